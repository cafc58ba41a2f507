package apiserver

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/components/apiserver/internal/managed"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// apply is server-side apply: the fields of a configuration become those of its manager. It makes the object when there is none.
func (s *Server) apply(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	patch, err := rq.configuration()
	if err != nil {
		return nil, err
	}
	m, err := s.fields.For(rq.Kind, rq.Face, rq.Subresource)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	rq.applied = true
	for {
		resp, err := s.update(p, rq, patchTries, func(old kinds.Object) (kinds.Object, error) {
			obj, err := s.merged(rq, m, old, patch)
			if err != nil {
				return nil, err
			}
			return s.prepareUpdate(p, rq, obj, old)
		}, rq.res.Gone)
		if !apierrors.IsNotFound(err) || rq.Subresource != "" {
			return resp, err
		}
		resp, err = s.applyNew(p, rq, m, patch)
		if resp != nil || err != nil {
			return resp, err
		}
		// Somebody made it in between.
	}
}

// configuration reads the body of an apply.
func (rq *request) configuration() (*unstructured.Unstructured, error) {
	if _, err := utilyaml.ToJSON(rq.Patch); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
	}
	patch := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(rq.Patch, &patch.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if patch.Object == nil {
		patch.Object = map[string]any{}
	}
	return patch, nil
}

// merged is the stored object (nil: none) with the configuration in it.
func (s *Server) merged(rq *request, m *managed.Manager, old kinds.Object, patch *unstructured.Unstructured) (obj kinds.Object, err error) {
	defer func() {
		if v := recover(); v != nil { // the library takes bodies apart that nobody has looked at yet
			obj, err = nil, apierrors.NewBadRequest(fmt.Sprintf("invalid apply patch: %v", v))
		}
	}()
	rq.warnings = nil
	obj, err = m.Apply(old, patch.DeepCopy(), rq.Manager, rq.Force, s.proc.Loop.Now())
	if err != nil {
		return nil, err
	}
	if rq.strict() {
		if err := yaml.UnmarshalStrict(rq.Patch, &map[string]any{}); err != nil {
			if rq.FieldValidation == kubeapi.FieldsStrict {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
			}
			rq.warnings = append(rq.warnings, err.Error())
		}
	}
	if c, ok := obj.(*kinds.Custom); ok {
		more, err := rq.Kind.Custom.Fit(c.Content)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if len(more) > 0 {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("unknown field %q", more[0]))
		}
	}
	return obj, rq.checkNames(obj)
}

// applyNew makes the object that a configuration describes. nil without an error: it exists by now, or lost a race for what it claims.
func (s *Server) applyNew(p *sim.Proc, rq *request, m *managed.Manager, patch *unstructured.Unstructured) (*kubeapi.Response, error) {
	obj, err := s.merged(rq, m, nil, patch)
	if err != nil {
		return nil, err
	}
	if uid := obj.GetUID(); uid != "" {
		return nil, apierrors.NewConflict(rq.Kind.GR(), rq.Name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	// Who may patch may not create for that.
	creation := *rq.Request
	creation.Verb = kubeapi.Create
	part := *rq
	part.Request = &creation
	if err := s.authorize(&part); err != nil {
		return nil, err
	}
	obj.SetResourceVersion("")
	part.stages, part.stage, part.began = rq.stages, rq.stage, rq.began
	err = s.prepareCreate(p, &part, obj)
	rq.stages, rq.stage, rq.began, rq.warnings = part.stages, part.stage, part.began, part.warnings
	if err != nil {
		return nil, err
	}
	rq.enter(stageStore)
	if rq.DryRun {
		return &kubeapi.Response{Object: obj, Created: true}, nil
	}
	rq.ports = part.ports
	stored, _, err := s.put(p, rq, rq.key, obj)
	if stored == nil || err != nil {
		return nil, err
	}
	resp := written(stored)
	resp.Created = true
	return resp, nil
}
