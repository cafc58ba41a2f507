package serve

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"example.com/kubeviz/components/apiserver/pki"
)

const (
	whoami   = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	canI     = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	accounts = "/api/v1/namespaces/default/serviceaccounts"
)

// user asks a server whom it takes a client for.
func (c *cluster) user(a ask) authenticationv1.UserInfo {
	c.t.Helper()
	a.method, a.path, a.body = "POST", whoami, "{}"
	var review authenticationv1.SelfSubjectReview
	if r := c.must(a); json.Unmarshal(r.body, &review) != nil || r.code != http.StatusCreated {
		c.t.Fatalf("%d %s", r.code, r.body)
	}
	return review.Status.UserInfo
}

func TestWhoAsksIsFoundOutByCertificateTokenAndImpersonation(t *testing.T) {
	c := open(t, 1, 0, "")
	if u := c.user(ask{}); u.Username != "kubernetes-admin" || strings.Join(u.Groups, ",") != "kubeadm:cluster-admins,system:authenticated" {
		t.Errorf("the kubeconfig's: %+v", u)
	}
	if u := c.user(ask{header: map[string]string{"Impersonate-User": "eve", "Impersonate-Group": "dev", "Impersonate-Extra-Scopes": "view"}}); u.Username != "eve" || strings.Join(u.Groups, ",") != "dev,system:authenticated" || u.Extra["scopes"][0] != "view" {
		t.Errorf("impersonated: %+v", u)
	}
	nobody := c.stranger()
	for path, code := range map[string]int{"/version": 200, "/readyz": 200, "/api": 403, "/apis": 403, "/metrics": 403, configMaps: 403} {
		if r := c.do(ask{method: "GET", path: path, client: nobody}); r.code != code {
			t.Errorf("nobody at %s: %d, want %d", path, r.code, code)
		}
	}
	for _, h := range []string{"Bearer x.y.z", "bearer nonsense"} {
		if r := c.do(ask{method: "GET", path: "/version", client: nobody, header: map[string]string{"Authorization": h}}); r.code != http.StatusUnauthorized || r.status(t).Message != "Unauthorized" {
			t.Errorf("%s: %d %s", h, r.code, r.body)
		}
	}
	// A certificate that another authority signed, with the name of the administrator.
	other, err := pki.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := other.Client("kubernetes-admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := rest.TLSConfigFor(rest.AnonymousClientConfig(c.cfg))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	tr := &http.Transport{TLSClientConfig: cfg}
	t.Cleanup(tr.CloseIdleConnections)
	if r := c.do(ask{method: "GET", path: "/version", client: &http.Client{Transport: tr}}); r.code != http.StatusUnauthorized {
		t.Errorf("a foreign certificate: %d %s", r.code, r.body)
	}
}

func TestATokenIsMadeUsedReviewedAndEndsWithItsAccount(t *testing.T) {
	c := open(t, 1, 0, "")
	c.must(ask{method: "POST", path: accounts, body: `{"metadata":{"name":"robot"}}`})
	var tr authenticationv1.TokenRequest
	if r := c.must(ask{method: "POST", path: accounts + "/robot/token", body: `{"spec":{"expirationSeconds":600}}`}); r.code != http.StatusCreated || json.Unmarshal(r.body, &tr) != nil || tr.Status.Token == "" {
		t.Fatalf("token: %d %s", r.code, r.body)
	}
	robot := ask{client: c.stranger(), header: map[string]string{"Authorization": "Bearer " + tr.Status.Token}}
	if u := c.user(robot); u.Username != "system:serviceaccount:default:robot" || !strings.Contains(strings.Join(u.Groups, ","), "system:serviceaccounts:default") {
		t.Errorf("%+v", u)
	}
	list := robot
	list.method, list.path = "GET", configMaps
	if r := c.do(list); r.code != http.StatusForbidden {
		t.Errorf("without rights: %d", r.code)
	}
	can := func(verb string) authorizationv1.SubjectAccessReviewStatus {
		a := robot
		a.method, a.path, a.body = "POST", canI, map[string]any{"spec": map[string]any{"resourceAttributes": map[string]any{"namespace": "default", "verb": verb, "resource": "configmaps"}}}
		var review authorizationv1.SelfSubjectAccessReview
		if r := c.must(a); json.Unmarshal(r.body, &review) != nil || r.code != http.StatusCreated {
			t.Fatalf("%d %s", r.code, r.body)
		}
		return review.Status
	}
	if can("list").Allowed {
		t.Error("may list before anybody said so")
	}
	c.must(ask{method: "POST", path: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
		body: `{"metadata":{"name":"robot"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"system:aggregate-to-view"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"default"}]}`})
	c.until("the binding counts", func() bool { return can("list").Allowed })
	if can("delete").Allowed {
		t.Error("a viewer may delete")
	}
	if r := c.do(list); r.code != http.StatusOK {
		t.Errorf("with rights: %d", r.code)
	}
	rules := robot
	rules.method, rules.path, rules.body = "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`
	if r := c.must(rules); !strings.Contains(string(r.body), "configmaps") {
		t.Errorf("rules: %s", r.body)
	}
	var review authenticationv1.TokenReview
	r := c.must(ask{method: "POST", path: "/apis/authentication.k8s.io/v1/tokenreviews", body: map[string]any{"spec": map[string]any{"token": tr.Status.Token}}})
	if json.Unmarshal(r.body, &review) != nil || !review.Status.Authenticated || review.Status.User.Username != "system:serviceaccount:default:robot" {
		t.Errorf("review: %s", r.body)
	}
	for path, body := range map[string]string{
		"/apis/authorization.k8s.io/v1/subjectaccessreviews":                         `{"spec":{"user":"system:serviceaccount:default:robot","resourceAttributes":{"namespace":"default","verb":"get","resource":"configmaps"}}}`,
		"/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews": `{"metadata":{"namespace":"default"},"spec":{"user":"system:serviceaccount:default:robot","resourceAttributes":{"namespace":"default","verb":"get","resource":"configmaps"}}}`,
	} {
		if r := c.must(ask{method: "POST", path: path, body: body}); !strings.Contains(string(r.body), `"allowed":true`) {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	c.must(ask{method: "DELETE", path: accounts + "/robot"})
	c.until("the token ends with its account", func() bool { return c.do(list).code == http.StatusUnauthorized })
}
