package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

// mountableSecrets is the annotation that once bound pods to the secrets of their account.
const mountableSecrets = "kubernetes.io/enforce-mountable-secrets"

func serviceAccountResource() *resource.Resource {
	type account = *corev1.ServiceAccount
	return &resource.Resource{
		Kind:          kinds.ServiceAccounts,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(namesOnly),
		PrepareUpdate: resource.TypedUpdate(func(a, _ account, _ string) { namesOnly(a) }),
		Warn: resource.TypedWarn(func(a, old account) []string {
			if old != nil {
				if _, had := old.Annotations[mountableSecrets]; had {
					return nil
				}
			}
			if _, has := a.Annotations[mountableSecrets]; has {
				return []string{"metadata.annotations[" + mountableSecrets + "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
			}
			return nil
		}),
	}
}

// namesOnly drops all of the references to secrets but the names.
func namesOnly(a *corev1.ServiceAccount) {
	for i, s := range a.Secrets {
		a.Secrets[i] = corev1.ObjectReference{Name: s.Name}
	}
}
