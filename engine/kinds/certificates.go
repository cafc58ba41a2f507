package kinds

import certificatesv1 "k8s.io/api/certificates/v1"

// The kinds of certificates.k8s.io/v1.
var (
	CertificateSigningRequests = &Kind{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest", Resource: "certificatesigningrequests", Singular: "certificatesigningrequest", Short: []string{"csr"},
		Prefix: "/registry/certificatesigningrequests/", Subresources: []Subresource{approval, status}, New: func() Object { return &certificatesv1.CertificateSigningRequest{} }}
)
