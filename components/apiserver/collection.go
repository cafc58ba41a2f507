package apiserver

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/sim"
)

// deleteCollection deletes what the selectors match, one by one, as a deletion of each would. What is gone by then is no failure; the first refusal ends it, with the others before it deleted.
func (s *Server) deleteCollection(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	if rq.Kind.NoCollectionDelete || rq.Name != "" || rq.Subresource != "" {
		return nil, apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
	}
	if rq.Delete != nil {
		if errs := metavalidation.ValidateDeleteOptions(rq.Delete); len(errs) > 0 {
			return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
		}
	}
	list, err := s.list(p, rq)
	if err != nil {
		return nil, err
	}
	out := &kubeapi.Response{ResourceVersion: list.ResourceVersion}
	for _, obj := range list.Items {
		one := *rq.Request
		one.Verb, one.Name, one.Namespace = kubeapi.Delete, obj.GetName(), obj.GetNamespace()
		part := *rq
		part.Request, part.key = &one, rq.Kind.Key(one.Namespace, one.Name)
		resp, err := s.delete(p, &part)
		rq.stages, rq.stage, rq.began = part.stages, part.stage, part.began
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, err
		case resp.Deleted != nil:
			out.Items = append(out.Items, resp.Deleted)
		default:
			out.Items = append(out.Items, resp.Object)
		}
		out.ResourceVersion = resp.ResourceVersion
	}
	return out, nil
}
