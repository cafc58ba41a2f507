package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/client-go/rest"
)

const csrs = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// asking makes a request for a certificate in PEM.
func asking(t *testing.T, key *ecdsa.PrivateKey, name string, groups ...string) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: groups}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

func request(name, signer string, pem []byte, usages ...string) map[string]any {
	return object("certificates.k8s.io/v1", "CertificateSigningRequest", name, "spec", map[string]any{"request": pem, "signerName": signer, "usages": usages, "username": "somebody-else"})
}

func TestAUserGetsACertificateThatIsApprovedAndShowsIt(t *testing.T) {
	c := open(t, 1, 0, "")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const client = "kubernetes.io/kube-apiserver-client"
	r := c.must(ask{method: "POST", path: csrs, body: request("jane", client, asking(t, key, "jane", "developers"), "client auth")})
	var csr certificatesv1.CertificateSigningRequest
	if err := json.Unmarshal(r.body, &csr); err != nil || csr.Spec.Username != "kubernetes-admin" {
		t.Fatalf("asked by %q: %v", csr.Spec.Username, err)
	}

	for _, row := range []struct {
		what string
		body any
		want string
	}{
		{"no request", request("x", client, []byte("none"), "client auth"), `PEM block type must be CERTIFICATE REQUEST`},
		{"a usage that is none", request("x", client, asking(t, key, "x"), "spying"), `spec.usages[0]: Unsupported value: "spying": supported values: "any"`},
		{"no usages", request("x", client, asking(t, key, "x")), `spec.usages: Required value`},
		{"the signer of old", request("x", "kubernetes.io/legacy-unknown", asking(t, key, "x"), "client auth"), `spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`},
		{"a signer without a domain", request("x", "me", asking(t, key, "x"), "client auth"), `must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		{"a master", request("x", client, asking(t, key, "x", "system:masters"), "client auth"),
			`certificatesigningrequests.certificates.k8s.io "x" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`},
	} {
		if got := c.do(ask{method: "POST", path: csrs, body: row.body}); got.code < 400 || !strings.Contains(got.status(t).Message, row.want) {
			t.Errorf("%s: %d %s", row.what, got.code, got.body)
		}
	}
	approve := func(header map[string]string) reply {
		csr.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: "True", Reason: "KubectlApprove", Message: "m"}}
		csr.ResourceVersion = ""
		return c.do(ask{method: "PUT", path: csrs + "/jane/approval", body: csr, header: header})
	}
	// The role may approve requests, and no signer's.
	c.must(ask{method: "POST", path: "/apis/rbac.authorization.k8s.io/v1/clusterroles", body: object("rbac.authorization.k8s.io/v1", "ClusterRole", "approver", "rules",
		[]any{map[string]any{"apiGroups": []string{"certificates.k8s.io"}, "resources": []string{"certificatesigningrequests/approval"}, "verbs": []string{"update"}}})})
	c.must(ask{method: "POST", path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", body: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
		"metadata": map[string]any{"name": "approver"}, "roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "approver"},
		"subjects": []any{map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}}}})
	var got reply
	c.until("the role is known", func() bool {
		got = approve(map[string]string{"Impersonate-User": "bob"})
		return !strings.Contains(string(got.body), "cannot update resource")
	})
	if want := `certificatesigningrequests.certificates.k8s.io "jane" is forbidden: user not permitted to approve requests with signerName \"kubernetes.io/kube-apiserver-client\"`; got.code != http.StatusForbidden ||
		got.status(t).Message != strings.ReplaceAll(want, `\`, "") {
		t.Errorf("bob approves: %d %s", got.code, got.body)
	}
	if r := c.do(ask{method: "PATCH", path: csrs + "/jane/status", body: `{"status":{"conditions":[{"type":"Approved","status":"True"}]}}`, header: map[string]string{"Content-Type": "application/merge-patch+json"}}); r.code != http.StatusUnprocessableEntity ||
		!strings.Contains(r.status(t).Message, `status.conditions: Forbidden: updates may not add a condition of type "Approved"`) {
		t.Errorf("an approval through the status: %d %s", r.code, r.body)
	}
	if r := approve(nil); r.code != http.StatusOK {
		t.Fatalf("approve: %d %s", r.code, r.body)
	}
	c.until("the certificate is there", func() bool {
		return json.Unmarshal(c.get(csrs+"/jane").body, &csr) == nil && len(csr.Status.Certificate) > 0
	})

	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(csr.Status.Certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := rest.TLSConfigFor(rest.AnonymousClientConfig(c.cfg))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Certificates = []tls.Certificate{pair}
	tr := &http.Transport{TLSClientConfig: cfg}
	defer tr.CloseIdleConnections()
	r = c.must(ask{method: "POST", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", client: &http.Client{Transport: tr}, body: `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`})
	var who authenticationv1.SelfSubjectReview
	if err := json.Unmarshal(r.body, &who); err != nil || who.Status.UserInfo.Username != "jane" || who.Status.UserInfo.Groups[0] != "developers" {
		t.Errorf("the certificate is of %+v: %v", who.Status.UserInfo, err)
	}

	// What a signer does not accept is marked as failed.
	c.must(ask{method: "POST", path: csrs, body: request("odd", client, asking(t, key, "odd"), "client auth", "server auth")})
	var odd certificatesv1.CertificateSigningRequest
	if err := json.Unmarshal(c.get(csrs+"/odd").body, &odd); err != nil {
		t.Fatal(err)
	}
	odd.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: "True"}}
	c.must(ask{method: "PUT", path: csrs + "/odd/approval", body: odd})
	c.until("the request has failed", func() bool {
		return json.Unmarshal(c.get(csrs+"/odd").body, &odd) == nil && len(odd.Status.Conditions) == 2
	})
	if got := odd.Status.Conditions[1]; got.Type != certificatesv1.CertificateFailed || got.Reason != "SignerValidationFailure" || got.Message != "invalid usage for client certificate: server auth" {
		t.Errorf("it failed as %+v", got)
	}
}
