package kubeapi

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Transport carries requests; a Dialer in the cluster, anything else in tests.
type Transport interface {
	Do(p *sim.Proc, r *Request) (*Response, error)
	Watch(p *sim.Proc, r *Request) (*WatchStream, error)
}

// Client asks an API server as one user. The typed calls are functions beside it (Fetch, Make, Replace …), since methods cannot be generic.
//
// Errors are *apierrors.StatusError (an answer) or *TransportError (no answer); apierrors.IsNotFound and its like work on them. A write that ends in a
// TransportError other than refusal may or may not have happened.
type Client struct {
	Transport Transport
	User      User
	// Manager is the field manager and log name.
	Manager string
	// Timeout per request, simulated; 0: DefaultTimeout.
	Timeout time.Duration
	// Throttle holds back all requests but watches; nil: nothing does.
	Throttle *Throttle
}

// WithTimeout is the same client with another timeout.
func (c *Client) WithTimeout(d time.Duration) *Client {
	n := *c
	n.Timeout = d
	return &n
}

// Do completes and carries one request. The error is the transport's or the answer's.
func (c *Client) Do(p *sim.Proc, r *Request) (*Response, error) {
	c.complete(p, r)
	c.Throttle.wait(p)
	resp, err := c.Transport.Do(p, r)
	if err != nil {
		return nil, err
	}
	if resp.Err != nil {
		return resp, resp.Err
	}
	return resp, nil
}

// Watch opens a watch.
func (c *Client) Watch(p *sim.Proc, r *Request) (*WatchStream, error) {
	r.Verb = Watch
	c.complete(p, r)
	return c.Transport.Watch(p, r)
}

func (c *Client) complete(p *sim.Proc, r *Request) {
	r.User, r.Manager, r.Cause = c.User, c.Manager, p.Cause
	if r.Timeout == 0 {
		r.Timeout = c.Timeout
	}
}

// Fetch reads one object from the store (a quorum read).
func Fetch[T kinds.Object](p *sim.Proc, c *Client, k *kinds.Kind, namespace, name string) (T, error) {
	return as[T](c.Do(p, &Request{Verb: Get, Kind: k, Namespace: namespace, Name: name}))
}

// ListOptions narrow a list.
type ListOptions struct {
	Namespace       string
	ResourceVersion string
	Labels          labels.Selector
	Fields          fields.Selector
}

// FetchList lists objects, sorted by key, with the list's resourceVersion.
func FetchList[T kinds.Object](p *sim.Proc, c *Client, k *kinds.Kind, o ListOptions) ([]T, string, error) {
	items, _, revision, err := fetchList[T](p, c, k, o)
	return items, revision, err
}

// fetchList is FetchList with the record of each item's last change, 0 where it is not known.
func fetchList[T kinds.Object](p *sim.Proc, c *Client, k *kinds.Kind, o ListOptions) (items []T, causes []event.Seq, revision string, err error) {
	resp, err := c.Do(p, &Request{Verb: List, Kind: k, Namespace: o.Namespace, ResourceVersion: o.ResourceVersion, Labels: o.Labels, Fields: o.Fields})
	if err != nil {
		return nil, nil, "", err
	}
	items, causes = make([]T, len(resp.Items)), make([]event.Seq, len(resp.Items))
	for i, o := range resp.Items {
		items[i] = o.(T)
	}
	copy(causes, resp.Causes)
	return items, causes, resp.ResourceVersion, nil
}

// Make creates obj and returns what was stored.
func Make[T kinds.Object](p *sim.Proc, c *Client, obj T) (T, error) {
	return as[T](c.Do(p, &Request{Verb: Create, Kind: kinds.MustOf(obj), Namespace: obj.GetNamespace(), Name: obj.GetName(), Object: obj}))
}

// Replace updates obj (PUT). A resourceVersion in it must be the present one, else 409 Conflict.
func Replace[T kinds.Object](p *sim.Proc, c *Client, obj T) (T, error) {
	return as[T](c.Do(p, &Request{Verb: Update, Kind: kinds.MustOf(obj), Namespace: obj.GetNamespace(), Name: obj.GetName(), Object: obj}))
}

// ReplaceStatus updates the status subresource (PUT …/status).
func ReplaceStatus[T kinds.Object](p *sim.Proc, c *Client, obj T) (T, error) {
	return as[T](c.Do(p, &Request{Verb: Update, Kind: kinds.MustOf(obj), Namespace: obj.GetNamespace(), Name: obj.GetName(), Subresource: "status", Object: obj}))
}

// PatchFrom sends the difference between old and changed as a strategic merge patch, to a subresource if one is named. UID and resourceVersion are not sent as
// preconditions unless changed carries them differently from old. Nothing is sent when nothing differs; then old is returned.
func PatchFrom[T kinds.Object](p *sim.Proc, c *Client, subresource string, old, changed T) (T, error) {
	data, err := TwoWayPatch(old, changed)
	if err != nil {
		var zero T
		return zero, err
	}
	if string(data) == "{}" {
		return old, nil
	}
	return as[T](c.Do(p, &Request{Verb: Patch, Kind: kinds.MustOf(old), Namespace: old.GetNamespace(), Name: old.GetName(), Subresource: subresource,
		PatchType: types.StrategicMergePatchType, Patch: data}))
}

// TwoWayPatch is the strategic merge patch from old to changed; "{}" when they are equal.
func TwoWayPatch[T kinds.Object](old, changed T) ([]byte, error) {
	a, err := json.Marshal(old)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", old, err)
	}
	b, err := json.Marshal(changed)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", changed, err)
	}
	data, err := strategicpatch.CreateTwoWayMergePatch(a, b, old)
	if err != nil {
		return nil, fmt.Errorf("patch of %T: %w", old, err)
	}
	return data, nil
}

// Remove deletes an object; nil options mean the kind's defaults.
func Remove(p *sim.Proc, c *Client, k *kinds.Kind, namespace, name string, o *metav1.DeleteOptions) error {
	_, err := c.Do(p, &Request{Verb: Delete, Kind: k, Namespace: namespace, Name: name, Delete: o})
	return err
}

// Bind assigns a pod to a node (POST pods/<name>/binding).
func Bind(p *sim.Proc, c *Client, pod *corev1.Pod, node string) error {
	b := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	_, err := c.Do(p, &Request{Verb: Create, Kind: kinds.Pods, Namespace: pod.Namespace, Name: pod.Name, Subresource: "binding", Object: b})
	return err
}

// IgnoreNotFound is err, or nil when it says that the object does not exist.
func IgnoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func as[T kinds.Object](resp *Response, err error) (T, error) {
	var zero T
	if err != nil {
		return zero, err
	}
	if resp.Object == nil {
		return zero, nil
	}
	return resp.Object.(T), nil
}
