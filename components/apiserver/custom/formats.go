package custom

import (
	"encoding/base64"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// formats of strings that a schema may ask for; others count for nothing. Expressions are compiled when they are first asked for.
var formats = sync.OnceValue(func() map[string]func(string) bool {
	like := func(expr string) func(string) bool { return regexp.MustCompile(expr).MatchString }
	parsed := func(family int) func(string) bool {
		return func(s string) bool {
			ip := net.ParseIP(s)
			return ip != nil && (family == 4) == (ip.To4() != nil && !strings.Contains(s, ":"))
		}
	}
	return map[string]func(string) bool{
		"uri":      func(s string) bool { _, err := url.ParseRequestURI(s); return err == nil },
		"email":    func(s string) bool { a, err := mail.ParseAddress(s); return err == nil && a.Address != "" },
		"hostname": like(`^([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])(\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9]))*$`),
		"ipv4":     parsed(4),
		"ipv6":     parsed(6),
		"cidr":     func(s string) bool { _, _, err := net.ParseCIDR(s); return err == nil },
		"mac":      func(s string) bool { _, err := net.ParseMAC(s); return err == nil },
		"uuid":     like(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
		"uuid3":    like(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
		"uuid4":    like(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
		"uuid5":    like(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
		"ssn":      like(`^\d{3}[- ]?\d{2}[- ]?\d{4}$`),
		"hexcolor": like(`^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`),
		"rgbcolor": like(`^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$`),
		"byte":     func(s string) bool { _, err := base64.StdEncoding.DecodeString(s); return err == nil },
		"date":     func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
		"datetime": func(s string) bool { _, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s)); return err == nil },
		"duration": func(s string) bool { _, err := time.ParseDuration(strings.ReplaceAll(s, " ", "")); return err == nil },

		"k8sshortname": func(s string) bool { return len(utilvalidation.IsDNS1123Label(s)) == 0 },
		"k8slongname":  func(s string) bool { return len(utilvalidation.IsDNS1123Subdomain(s)) == 0 },
	}
})

// validFormat reports whether a text is of a format; known is false for formats that count for nothing.
func validFormat(format, s string) (ok, known bool) {
	if format == "" {
		return true, false
	}
	fn, known := formats()[strings.ReplaceAll(format, "-", "")]
	return known && fn(s), known
}
