package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/raftstore"
)

// dialError is what the store's client library says when nothing listens at the member's address.
const dialError = `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:2379: connect: connection refused"`

// errModified is the conflict of an update that was built on an older version.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// storeError is an error of the store as an answer: 500 without a reason, the text passed through.
func storeError(err error) error {
	text := err.Error()
	if errors.Is(err, raftstore.ErrStopped) {
		text = dialError
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: text}}
}

func deadlineError() error {
	return apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
}

func conflict(k *kinds.Kind, name string) error {
	return apierrors.NewConflict(k.GR(), name, errModified)
}

func notFound(k *kinds.Kind, name string) error { return apierrors.NewNotFound(k.GR(), name) }

func invalid(k *kinds.Kind, name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(k.GVK().GroupKind(), name, once(errs))
}

// once drops errors that say what an earlier one says: rules that look at a thing twice shall not list their causes twice.
func once(errs field.ErrorList) field.ErrorList {
	said := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(errs), func(e *field.Error) bool {
		text := e.Error()
		twice := said[text]
		said[text] = true
		return twice
	})
}

// preconditionConflict is the refusal of a deletion whose preconditions do not hold. Kubernetes names the kind, not the resource, here.
func preconditionConflict(k *kinds.Kind, name, text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict,
		Details: &metav1.StatusDetails{Group: k.Group, Kind: k.Kind, Name: name},
		Message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", k.GVK().GroupKind(), name, text)}}
}

// reinitializing is the answer of a server whose watch cache is not filled (fidelity API-33).
func reinitializing() error { return apierrors.NewTooManyRequests("storage is (re)initializing", 1) }

// tooLargeVersion is the answer to a version that the cache has not reached (API-13).
func tooLargeVersion(asked, have int64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", asked, have), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

// statusOf is the Status behind an error that the pipeline answers.
func statusOf(err error) metav1.Status {
	var se apierrors.APIStatus
	if errors.As(err, &se) {
		return se.Status()
	}
	return metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
}
