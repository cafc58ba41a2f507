package certificates

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func certificateSigningRequestResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.CertificateSigningRequests,
		Name: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *certificatesv1.CertificateSigningRequest) {
			o.Status = certificatesv1.CertificateSigningRequestStatus{}
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old *certificatesv1.CertificateSigningRequest, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
