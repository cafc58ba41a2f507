package authn

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func issuer(t testing.TB) *Issuer {
	t.Helper()
	i, err := NewIssuer()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func claims() Claims {
	return Claims{Audience: []string{Audience, "vault"}, IssuedAt: 1000, NotBefore: 1000, Expiry: 4600, ID: "1", Subject: "system:serviceaccount:default:web",
		Kubernetes: Kubernetes{Namespace: "default", ServiceAccount: Ref{Name: "web", UID: "u"}, Pod: &Ref{Name: "p", UID: "v"}}}
}

func TestATokenSaysWhatWasSigned(t *testing.T) {
	i := issuer(t)
	token, err := i.Sign(claims())
	if err != nil {
		t.Fatal(err)
	}
	got, err := i.Read(token)
	if err != nil {
		t.Fatal(err)
	}
	want := claims()
	want.Issuer = Audience
	if !reflect.DeepEqual(got, &want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, err := issuer(t).Read(token); err == nil {
		t.Error("another cluster takes the token for its own")
	}
}

func TestNoChangedTokenIsRead(t *testing.T) {
	i := issuer(t)
	token, err := i.Sign(claims())
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	for what, bad := range map[string]string{
		"empty": "", "one part": parts[0], "no signature": parts[0] + "." + parts[1] + ".", "one part more": token + ".x", "algorithm none": encode([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		"other claims": parts[0] + "." + encode([]byte(`{"sub":"system:serviceaccount:kube-system:generic-garbage-collector"}`)) + "." + parts[2],
		"padding":      token + "=", "too long": strings.Repeat("a", tokenMax+1), "zero signature": parts[0] + "." + parts[1] + "." + encode(make([]byte, 2*half)),
	} {
		if _, err := i.Read(bad); err == nil {
			t.Errorf("%s: the token was read", what)
		}
	}
	// Every single character counts, but for those bits of the last one that carry nothing: and even these must be as they were.
	for n := range len(token) {
		changed := []byte(token)
		if changed[n]++; string(changed) == token {
			continue
		}
		if _, err := i.Read(string(changed)); err == nil {
			t.Errorf("character %d may be changed", n)
		}
	}
}

func TestTimesOfATokenAllowForAMinuteBetweenClocks(t *testing.T) {
	c := claims()
	for at, want := range map[int64]string{939: "service account token is not valid yet", 940: "", 2000: "", 4660: "", 4661: "service account token has expired"} {
		got := ""
		if err := c.Valid(time.Unix(at, 0)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("at %d: %q, want %q", at, got, want)
		}
	}
	if got := c.For(nil); !reflect.DeepEqual(got, []string{Audience}) {
		t.Errorf("for the API server: %q", got)
	}
	if got := c.For([]string{"x", "vault"}); !reflect.DeepEqual(got, []string{"vault"}) {
		t.Errorf("for x and vault: %q", got)
	}
}

func FuzzRead(f *testing.F) {
	i := issuer(f)
	token, err := i.Sign(claims())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("")
	f.Add("a.b.c")
	f.Add(strings.Split(token, ".")[0] + "..")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := i.Read(s); err == nil && s != token {
			t.Errorf("read %+v from %q", c, s)
		}
	})
}
