package serve

import (
	"net/http"
	"strings"
	"testing"
)

func TestPodsAndServicesAreProxied(t *testing.T) {
	c := open(t, 1, 1, web)
	const in = "/api/v1/namespaces/default/"
	c.until("the pod runs", func() bool { return strings.Contains(string(c.get(in+"pods/web").body), `"ready":true`) })
	c.must(ask{method: "POST", path: in + "services", body: `{"metadata":{"name":"shop"},"spec":{"ports":[{"name":"web","port":8000,"targetPort":80}]}}`})
	ip := c.get(in + "pods/web").object(t)["status"].(map[string]any)["podIP"].(string)
	ends := `{"metadata":{"name":"shop"},"subsets":[{"addresses":[{"ip":"` + ip + `","targetRef":{"kind":"Pod","name":"web","namespace":"default"}}],"ports":[{"name":"web","port":80}]}]}`
	c.must(ask{method: "POST", path: in + "services", body: `{"metadata":{"name":"empty"},"spec":{"ports":[{"port":80}]}}`})
	c.must(ask{method: "POST", path: in + "endpoints", body: ends})
	for _, x := range []struct {
		method, path string
		code         int
		says         string
	}{
		{"GET", "pods/web/proxy/", 200, "Welcome to nginx!"},
		{"GET", "pods/web/proxy", 200, "Welcome to nginx!"}, // after a redirect to the directory
		{"GET", "pods/web:80/proxy/index.html", 200, "Welcome to nginx!"},
		{"GET", "pods/http:web:80/proxy/", 200, "Welcome to nginx!"},
		{"GET", "pods/web/proxy/none", 404, "<title>404 Not Found</title>"},
		{"HEAD", "pods/web/proxy/", 200, ""},
		{"GET", "pods/web:81/proxy/", 503, "error trying to reach service: dial tcp " + ip + ":81: connect: connection refused"},
		{"GET", "pods/https:web:80/proxy/", 503, "error trying to reach service:"},
		{"GET", "pods/web:what/proxy/", 503, "error trying to reach service: dial tcp: lookup tcp/what: unknown port"},
		{"GET", "pods/ftp:web:80/proxy/", 400, `invalid pod request \"ftp:web:80\"`},
		{"GET", "pods/none/proxy/", 404, `pods \"none\" not found`},
		{"GET", "services/shop:web/proxy/", 200, "Welcome to nginx!"},
		{"GET", "services/shop:8000/proxy/", 200, "Welcome to nginx!"},
		{"GET", "services/shop/proxy/", 503, `no endpoints available for service \"shop\"`},
		{"GET", "services/shop:81/proxy/", 503, `no service port 81 found for service \"shop\"`},
		{"GET", "services/none/proxy/", 404, `endpoints \"none\" not found`},
	} {
		r := c.do(ask{method: x.method, path: in + x.path})
		if r.code != x.code || !strings.Contains(string(r.body), x.says) {
			t.Errorf("%s %s: %d %s, want %d %s", x.method, x.path, r.code, r.body, x.code, x.says)
		}
	}
	if r := c.do(ask{method: "GET", path: in + "pods/web/proxy/", header: map[string]string{"Impersonate-User": "eve"}}); r.code != http.StatusForbidden || !strings.Contains(r.status(t).Message, `cannot get resource "pods/proxy"`) {
		t.Errorf("without the right: %d %s", r.code, r.body)
	}
}
