package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	listvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore/mvcc"
)

// freshWait is how long a read waits for the cache to reach the version it needs (API-12, API-13).
const freshWait = 3 * time.Second

// get reads one object: from the store, or with resourceVersion 0 from the cache.
func (s *Server) get(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	rq.enter(stageStore)
	asked, err := askedVersion(rq.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if rq.ResourceVersion == "" {
		obj, err := s.current(p, rq)
		if err != nil {
			return nil, err
		}
		return written(obj), nil
	}
	if err := s.cache.reach(p, asked); err != nil {
		return nil, err
	}
	obj, ok := s.cache.kinds[rq.Kind].items.Get(rq.key)
	if !ok {
		return nil, notFound(rq.Kind, rq.Name)
	}
	return written(obj), nil
}

// askedVersion reads a resourceVersion that a client sent; empty is 0.
func askedVersion(v string) (int64, error) {
	if v == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(v, 10, 63)
	if err != nil {
		_, err = strconv.ParseUint(v, 10, 64)
		bad := field.Invalid(field.NewPath("resourceVersion"), v, fmt.Sprint(err))
		return 0, apierrors.NewBadRequest("invalid resource version: " + bad.Error())
	}
	return int64(n), nil
}

// checkListOptions refuses options of a list or watch that do not go together.
func (rq *request) checkListOptions() error {
	o := internalversion.ListOptions{Watch: rq.Verb == kubeapi.Watch, ResourceVersion: rq.ResourceVersion, ResourceVersionMatch: rq.ResourceVersionMatch, Continue: rq.Continue,
		SendInitialEvents: rq.SendInitialEvents}
	if errs := listvalidation.ValidateListOptions(&o, true); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	return rq.checkFields()
}

// list reads many objects. Without a version the answer is as fresh as a quorum read, but comes out of the cache.
func (s *Server) list(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	rq.enter(stageStore)
	if err := rq.checkListOptions(); err != nil {
		return nil, err
	}
	asked, err := askedVersion(rq.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if rq.Continue != "" {
		if asked != 0 {
			return nil, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		return s.listAt(p, rq, 0)
	}
	switch {
	case rq.ResourceVersion == "":
		fresh, err := s.fresh(p, rq)
		if err != nil {
			return nil, err
		}
		if !fresh {
			return s.listAt(p, rq, 0)
		}
	default:
		if err := s.cache.reach(p, asked); err != nil {
			return nil, err
		}
		// A page of a version without another wish is read at that version, as before there were wishes.
		if rq.ResourceVersionMatch == metav1.ResourceVersionMatchExact || (rq.ResourceVersionMatch == "" && rq.Limit > 0 && asked > 0) {
			return s.listAt(p, rq, asked)
		}
	}
	limit := int(rq.Limit)
	if asked == 0 && rq.ResourceVersion != "" {
		limit = 0 // Kubernetes answers whole lists where any version will do
	}
	out := s.cache.list(rq, limit)
	out.Causes = make([]event.Seq, len(out.Items))
	for i, obj := range out.Items {
		out.Causes[i] = s.cfg.Announcer.RecordOf(rq.Kind.Key(obj.GetNamespace(), obj.GetName()), revisionOf(obj))
	}
	return out, nil
}

// fresh waits until the cache is where the store is now; false when that takes too long.
func (s *Server) fresh(p *sim.Proc, rq *request) (bool, error) {
	now, err := s.door.read(p, mvcc.Range{Key: healthKey, CountOnly: true}, rq.deadline)
	if err != nil {
		return false, err
	}
	if !s.cache.synced {
		return false, reinitializing()
	}
	return s.cache.waitFor(p, now.Revision), nil
}

// page is where a list goes on. It is opaque to clients; the form is Kubernetes' own.
type page struct {
	V     string `json:"v"`
	RV    int64  `json:"rv"`
	Start string `json:"start"`
}

// pageVersion is the one form of tokens there is. A revision of anyRevision goes on with what there is now.
const (
	pageVersion = "meta.k8s.io/v1"
	anyRevision = -1
)

// pageAfter goes on behind a key, in the part of the registry that prefix names.
func pageAfter(key, prefix string, revision int64) string {
	return page{V: pageVersion, RV: revision, Start: strings.TrimPrefix(key, prefix) + "\x00"}.encode()
}

func (pg page) encode() string {
	b, _ := json.Marshal(pg) // two strings and a number always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodePage(token string) (page, error) {
	var pg page
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &pg)
	}
	why := ""
	switch {
	case err != nil:
		why = fmt.Sprintf("continue key is not valid: %v", err)
	case pg.V != pageVersion:
		why = "continue key is not valid: server does not recognize this encoded version " + pg.V
	case pg.RV == 0:
		why = "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"
	case pg.Start == "":
		why = "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"
	case path.Clean("/"+strings.TrimPrefix(pg.Start, "/")) != "/"+strings.TrimPrefix(pg.Start, "/"): // nobody leaves the part of the registry that the request is for
		why = "continue key is not valid: " + pg.Start
	default:
		pg.Start = strings.TrimPrefix(pg.Start, "/")
		return pg, nil
	}
	return pg, apierrors.NewBadRequest("invalid continue token: " + why)
}

// Refusals of pages whose version is compacted, and of lists of such a version.
const (
	pageExpired = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter."
	pageGoesOn  = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response " +
		"to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first " +
		"chunk was returned and now may show up in the list."
	listExpired = "The resourceVersion for the provided list is too old."
)

// listAt reads a list from the store: at a revision, a further page at the revision of the first one, or what the cache could not reach in time.
func (s *Server) listAt(p *sim.Proc, rq *request, at int64) (*kubeapi.Response, error) {
	prefix := rq.Kind.Key(rq.Namespace, "")
	r := mvcc.Range{Key: prefix, End: mvcc.PrefixEnd(prefix), Revision: at}
	var pg page
	if rq.Continue != "" {
		var err error
		if pg, err = decodePage(rq.Continue); err != nil {
			return nil, err
		}
		r.Key = prefix + pg.Start
		if pg.RV > 0 {
			r.Revision = pg.RV
		}
	}
	res, err := s.door.read(p, r, rq.deadline)
	if err != nil {
		if r.Revision > 0 && strings.Contains(err.Error(), "compacted") {
			err = apierrors.NewResourceExpired(listExpired)
			if rq.Continue != "" {
				pg.RV = anyRevision
				expired := apierrors.NewResourceExpired(pageGoesOn)
				expired.ErrStatus.Continue = pg.encode()
				err = expired
			}
		}
		return nil, err
	}
	revision := res.Revision
	if r.Revision > 0 {
		revision = r.Revision
	}
	out := &kubeapi.Response{ResourceVersion: strconv.FormatInt(revision, 10)}
	last := ""
	for i := range res.KVs {
		if rq.Limit > 0 && len(out.Items) == int(rq.Limit) {
			out.Continue = pageAfter(last, prefix, revision)
			if rq.everything() {
				left := int64(len(res.KVs) - i)
				out.RemainingItemCount = &left
			}
			break
		}
		obj, err := s.codec.Decode(&res.KVs[i])
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		last = res.KVs[i].Key
		if rq.matches(obj) {
			out.Items = append(out.Items, obj)
		}
	}
	return out, nil
}

// everything reports that the list has no selectors.
func (rq *request) everything() bool {
	return (rq.Labels == nil || rq.Labels.Empty()) && (rq.Fields == nil || rq.Fields.Empty())
}

// checkFields refuses field selectors on fields the kind does not offer.
func (rq *request) checkFields() error {
	if rq.Fields == nil {
		return nil
	}
	for _, f := range rq.Fields.Requirements() {
		if !rq.res.Selectable(f.Field) {
			return apierrors.NewBadRequest("field label not supported: " + f.Field)
		}
	}
	return nil
}

// matches applies the selectors of a list or watch.
func (rq *request) matches(obj kinds.Object) bool {
	if rq.Labels != nil && !rq.Labels.Empty() && !rq.Labels.Matches(labelsOf{obj}) {
		return false
	}
	return rq.Fields == nil || rq.Fields.Empty() || rq.Fields.Matches(resource.FieldsOf{Res: rq.res, Obj: obj})
}

// labelsOf shows an object's labels to selectors.
type labelsOf struct{ obj kinds.Object }

func (l labelsOf) Has(k string) bool   { _, ok := l.obj.GetLabels()[k]; return ok }
func (l labelsOf) Get(k string) string { return l.obj.GetLabels()[k] }
func (l labelsOf) Lookup(k string) (string, bool) {
	v, ok := l.obj.GetLabels()[k]
	return v, ok
}
