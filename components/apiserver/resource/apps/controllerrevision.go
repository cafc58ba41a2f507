package apps

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func controllerRevisionResource() *resource.Resource {
	type revision = *appsv1.ControllerRevision
	number := func(r revision) field.ErrorList {
		return apivalidation.ValidateNonnegativeField(r.Revision, field.NewPath("revision"))
	}
	return &resource.Resource{
		Kind:        kinds.ControllerRevisions,
		Name:        apivalidation.NameIsDNSSubdomain,
		UpdateWhole: true,
		Validate: resource.TypedCheck(func(r revision) field.ErrorList {
			errs, at := number(r), field.NewPath("data")
			var v any
			if r.Data.Raw == nil && r.Data.Object == nil {
				return append(errs, field.Required(at, "data is mandatory"))
			}
			raw, err := r.Data.MarshalJSON()
			if err == nil {
				err = json.Unmarshal(raw, &v)
			}
			if err != nil {
				return append(errs, field.Invalid(at, "<value omitted>", fmt.Sprintf("error parsing data: %v", err)))
			}
			if v == nil {
				return append(errs, field.Required(at, "data is mandatory"))
			}
			if _, ok := v.(map[string]any); !ok {
				errs = append(errs, field.Required(at, "data must be a valid JSON object"))
			}
			return errs
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(r, old revision, _ string) field.ErrorList {
			return append(number(r), apivalidation.ValidateImmutableField(r.Data, old.Data, field.NewPath("data"))...)
		}),
	}
}
