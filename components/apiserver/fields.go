package apiserver

import (
	"bytes"
	"slices"

	"example.com/kubeviz/components/apiserver/internal/managed"
	"example.com/kubeviz/engine/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// manager is who the request's fields belong to: what it names, else what its user agent begins with.
func (rq *request) manager() string {
	if rq.Manager == "" && rq.Client != nil {
		return managed.NameOf(rq.Client.UserAgent)
	}
	return rq.Manager
}

// track keeps the managed fields of an object that becomes obj; old is nil for a creation. Defaults are filled in by then, admission has not been there: what it adds belongs to nobody.
func (s *Server) track(rq *request, old, obj kinds.Object) {
	if rq.applied {
		return
	}
	if m, err := s.fields.For(rq.Kind, rq.Face, rq.Subresource); err == nil {
		m.Update(old, obj, rq.manager(), s.proc.Loop.Now())
	}
}

// onlyTimesDiffer reports that obj is old, whose stored form is have, but for the times of its managed fields; such a write is none.
func (s *Server) onlyTimesDiffer(obj, old kinds.Object, have []byte) bool {
	mine, theirs := obj.GetManagedFields(), old.GetManagedFields()
	same := slices.EqualFunc(mine, theirs, func(a, b metav1.ManagedFieldsEntry) bool { return a.Time.Equal(b.Time) })
	if same || !managed.Same(mine, theirs) {
		return false
	}
	obj.SetManagedFields(theirs)
	defer obj.SetManagedFields(mine)
	a, err := s.codec.Encode(obj)
	return err == nil && bytes.Equal(a, have)
}
