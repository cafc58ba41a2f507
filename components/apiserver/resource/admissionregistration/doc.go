// Package admissionregistration describes the kinds of admissionregistration.k8s.io/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package admissionregistration

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{mutatingAdmissionPolicyResource(), mutatingAdmissionPolicyBindingResource(), mutatingWebhookConfigurationResource(), validatingAdmissionPolicyResource(), validatingAdmissionPolicyBindingResource(), validatingWebhookConfigurationResource()}
}
