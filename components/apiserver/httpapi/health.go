package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/kubeviz/components/kubeapi"
)

// health answers /healthz, /livez, /readyz and their parts (pkg/server/healthz). ok is false where there is no such part.
func (c *call) health(which, part string, checks []kubeapi.Check) (serve func(), ok bool) {
	mine := slices.DeleteFunc(slices.Clone(checks), func(ck kubeapi.Check) bool {
		return which == "healthz" && !ck.Healthz || which == "livez" && !ck.Livez || which == "readyz" && !ck.Readyz
	})
	if part != "" {
		for _, ck := range mine {
			if ck.Name == part {
				return func() { c.onePart(ck) }, true
			}
		}
		return nil, false
	}
	return func() { c.allParts(which, mine) }, true
}

func (c *call) onePart(ck kubeapi.Check) {
	if ck.Failed {
		http.Error(c.w, fmt.Sprintf("internal server error: %s", "reason withheld"), http.StatusInternalServerError)
		return
	}
	c.send(http.StatusOK, "text/plain; charset=utf-8", []byte("ok"))
}

func (c *call) allParts(which string, checks []kubeapi.Check) {
	var b strings.Builder
	var failed []string
	excluded := c.query["exclude"]
	for _, ck := range checks {
		switch {
		case slices.Contains(excluded, ck.Name):
			excluded = slices.DeleteFunc(slices.Clone(excluded), func(x string) bool { return x == ck.Name })
			fmt.Fprintf(&b, "[+]%s excluded: ok\n", ck.Name)
		case ck.Failed:
			failed = append(failed, ck.Name)
			fmt.Fprintf(&b, "[-]%s failed: reason withheld\n", ck.Name)
		default:
			fmt.Fprintf(&b, "[+]%s ok\n", ck.Name)
		}
	}
	if len(excluded) > 0 {
		quoted := make([]string, len(excluded))
		for i, x := range excluded {
			quoted[i] = fmt.Sprintf("%q", x)
		}
		fmt.Fprintf(&b, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(quoted, ", "))
	}
	c.w.Header().Set("X-Content-Type-Options", "nosniff")
	if len(failed) > 0 {
		fmt.Fprintf(&b, "%s check failed\n", which)
		c.send(http.StatusInternalServerError, "text/plain; charset=utf-8", []byte(b.String()))
		return
	}
	if !c.query.Has("verbose") {
		c.send(http.StatusOK, "text/plain; charset=utf-8", []byte("ok"))
		return
	}
	fmt.Fprintf(&b, "%s check passed\n", which)
	c.send(http.StatusOK, "text/plain; charset=utf-8", []byte(b.String()))
}
