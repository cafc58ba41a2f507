package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// list reads many objects. Without a version the answer is as fresh as a quorum read, but comes out of the cache.
func (s *Server) list(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	rq.enter(stageStore)
	if err := rq.checkFields(); err != nil {
		return nil, err
	}
	asked, err := askedVersion(rq.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if rq.Continue != "" {
		return s.listAt(p, rq)
	}
	switch {
	case rq.ResourceVersion == "":
		now, err := s.door.read(p, mvcc.Range{Key: healthKey, CountOnly: true}, rq.deadline)
		if err != nil {
			return nil, err
		}
		if !s.cache.synced {
			return nil, reinitializing()
		}
		if !s.cache.waitFor(p, now.Revision) {
			return s.listAt(p, rq)
		}
	default:
		if err := s.cache.reach(p, asked); err != nil {
			return nil, err
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

// page is where a list goes on. It is opaque to clients; the form is Kubernetes' own.
type page struct {
	V     string `json:"v"`
	RV    int64  `json:"rv"`
	Start string `json:"start"`
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
	if err != nil {
		return pg, apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: continue key is not valid: %v", err))
	}
	return pg, nil
}

// listAt reads a list from the store: a further page, at the version of the first one, or what the cache could not reach in time.
func (s *Server) listAt(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	prefix := rq.Kind.Key(rq.Namespace, "")
	r := mvcc.Range{Key: prefix, End: mvcc.PrefixEnd(prefix)}
	if rq.Continue != "" {
		pg, err := decodePage(rq.Continue)
		if err != nil {
			return nil, err
		}
		r.Key, r.Revision = prefix+pg.Start, pg.RV
	}
	res, err := s.door.read(p, r, rq.deadline)
	if err != nil {
		if r.Revision > 0 && strings.Contains(err.Error(), "compacted") {
			err = apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.")
		}
		return nil, err
	}
	revision := res.Revision
	if r.Revision > 0 {
		revision = r.Revision
	}
	out := &kubeapi.Response{ResourceVersion: strconv.FormatInt(revision, 10)}
	for i := range res.KVs {
		if rq.Limit > 0 && len(out.Items) == int(rq.Limit) {
			out.Continue = page{V: "meta.k8s.io/v1", RV: revision, Start: strings.TrimPrefix(res.KVs[i].Key, prefix)}.encode()
			break
		}
		obj, err := s.codec.Decode(&res.KVs[i])
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if rq.matches(obj) {
			out.Items = append(out.Items, obj)
		}
	}
	return out, nil
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
