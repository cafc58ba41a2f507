package apiserver

import (
	"bytes"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"example.com/kubeviz/components/apiserver/authz"
	"example.com/kubeviz/components/apiserver/resource/certificates"
)

// requester writes into a request for a certificate who asks for it; nobody can ask in the name of another.
func requester(a *attributes) error {
	csr, ok := a.obj.(*certificatesv1.CertificateSigningRequest)
	if !ok || !a.creates() {
		return nil
	}
	u := userInfo(a.rq.user)
	csr.Spec.Username, csr.Spec.UID, csr.Spec.Groups, csr.Spec.Extra = u.Username, u.UID, u.Groups, nil
	for k, v := range u.Extra {
		if csr.Spec.Extra == nil {
			csr.Spec.Extra = map[string]certificatesv1.ExtraValue{}
		}
		csr.Spec.Extra[k] = certificatesv1.ExtraValue(v)
	}
	return nil
}

// certificateApproval and certificateSigning ask whether the user may act for the signer that a request names; the role for requests alone does not say so (k/k
// plugin/pkg/admission/certificates).
func certificateApproval(a *attributes) error {
	old, ok := a.old.(*certificatesv1.CertificateSigningRequest)
	if !ok || a.obj == nil || a.rq.Subresource != "approval" || a.forSigner("approve", old.Spec.SignerName) {
		return nil
	}
	return a.forbid("user not permitted to approve requests with signerName %q", old.Spec.SignerName)
}

func certificateSigning(a *attributes) error {
	old, ok := a.old.(*certificatesv1.CertificateSigningRequest)
	if !ok || a.obj == nil || a.rq.Subresource != "status" {
		return nil
	}
	csr := a.obj.(*certificatesv1.CertificateSigningRequest)
	if bytes.Equal(old.Status.Certificate, csr.Status.Certificate) && apiequality.Semantic.DeepEqual(old.Status.Conditions, csr.Status.Conditions) || a.forSigner("sign", old.Spec.SignerName) {
		return nil
	}
	return a.forbid("user not permitted to sign requests with signerName %q", old.Spec.SignerName)
}

// forSigner reports that the user may act for a signer: by its name, or for all of its domain.
func (a *attributes) forSigner(verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		if ok, _ := a.server.access.chain.Authorize(&authz.Attributes{User: a.rq.user, Verb: verb, Group: "certificates.k8s.io", Resource: "signers", Name: name}); ok {
			return true
		}
	}
	return false
}

// certificateSubject keeps people from becoming masters by a certificate that somebody approves without looking.
func certificateSubject(a *attributes) error {
	csr, ok := a.obj.(*certificatesv1.CertificateSigningRequest)
	if !ok || !a.creates() || csr.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return nil
	}
	asked, err := certificates.Parse(csr.Spec.Request)
	if err != nil {
		return a.forbid("failed to parse CSR: %v", err)
	}
	if slices.Contains(asked.Subject.Organization, "system:masters") {
		return a.forbid("use of %s signer with system:masters group is not allowed", certificatesv1.KubeAPIServerClientSignerName)
	}
	return nil
}
