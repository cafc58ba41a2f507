package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func clusterRoleBindingResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.ClusterRoleBindings,
		Name: check.PathSegment,
		Default: resource.Typed(func(b *rbacv1.ClusterRoleBinding) {
			defaultBinding(&b.RoleRef, b.Subjects)
		}),
		Validate: resource.TypedCheck(func(b *rbacv1.ClusterRoleBinding) field.ErrorList {
			return append(roleRef(&b.RoleRef, []string{"ClusterRole"}), subjects(b.Subjects, false)...)
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(b, old *rbacv1.ClusterRoleBinding, _ string) field.ErrorList {
			return sameRole(b.RoleRef, old.RoleRef)
		}),
	}
}
