// Package authn makes and reads the tokens of service accounts: JSON web tokens signed with the key of the cluster (k/k pkg/serviceaccount).
//
// Owns: Issuer, Claims. Whether what a token names still exists, the API server looks up. Imports of ours: none. Goroutines: an Issuer may be used by several. Time: the caller's; the
// lives of tokens are wall time, since they are outside of the simulation.
package authn

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Audience is whom tokens are for that ask for nobody else, and who issues them: the API server of a cluster that kubeadm set up.
const Audience = "https://kubernetes.default.svc.cluster.local"

// Ref names an object that a token is bound to.
type Ref struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// Claims are what a token says.
type Claims struct {
	Audience   []string   `json:"aud"`
	Expiry     int64      `json:"exp"`
	IssuedAt   int64      `json:"iat"`
	Issuer     string     `json:"iss"`
	ID         string     `json:"jti"`
	Kubernetes Kubernetes `json:"kubernetes.io"`
	NotBefore  int64      `json:"nbf"`
	Subject    string     `json:"sub"`
}

// Kubernetes are the claims about objects of the cluster.
type Kubernetes struct {
	Namespace      string `json:"namespace,omitempty"`
	Node           *Ref   `json:"node,omitempty"`
	Pod            *Ref   `json:"pod,omitempty"`
	Secret         *Ref   `json:"secret,omitempty"`
	ServiceAccount Ref    `json:"serviceaccount"`
	WarnAfter      int64  `json:"warnafter,omitempty"`
}

// Issuer signs tokens and tells those that it signed. All API servers of a cluster share one.
type Issuer struct {
	key    *ecdsa.PrivateKey
	header string
}

// NewIssuer makes one with a new key.
func NewIssuer() (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key for the tokens of service accounts: %w", err)
	}
	return IssuerWith(key)
}

// IssuerWith makes one with a key of the curve P-256.
func IssuerWith(key *ecdsa.PrivateKey) (*Issuer, error) {
	if key.Curve != elliptic.P256() {
		return nil, errors.New("the key for the tokens of service accounts is not of the curve P-256")
	}
	pub, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("key for the tokens of service accounts: %w", err)
	}
	sum := sha256.Sum256(pub)
	h, err := json.Marshal(header{Algorithm: algorithm, KeyID: encode(sum[:])})
	if err != nil {
		return nil, err
	}
	return &Issuer{key: key, header: encode(h)}, nil
}

type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
}

const (
	algorithm = "ES256"
	// half is the length of each of the two numbers of a signature.
	half = 32
	// tokenMax bounds what is read at all; an HTTP header is not longer.
	tokenMax = 16 << 10
)

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Sign makes the token. Issuer is filled in.
func (i *Issuer) Sign(c Claims) (string, error) {
	c.Issuer = Audience
	body, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := i.header + "." + encode(body)
	sum := sha256.Sum256([]byte(text))
	der, err := ecdsa.SignASN1(rand.Reader, i.key, sum[:])
	if err != nil {
		return "", err
	}
	var sig struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &sig); err != nil {
		return "", err
	}
	raw := make([]byte, 2*half)
	sig.R.FillBytes(raw[:half])
	sig.S.FillBytes(raw[half:])
	return text + "." + encode(raw), nil
}

// ErrForeign is what Read says of a token that this issuer did not sign.
var ErrForeign = errors.New("the token was not issued by this cluster")

// Read checks a token's signature and reads its claims. It does not look at their times and audiences (Claims.Valid).
func (i *Issuer) Read(token string) (*Claims, error) {
	if len(token) > tokenMax {
		return nil, ErrForeign
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[0] != i.header {
		return nil, ErrForeign // another algorithm or key; no header but our own is worth reading
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(raw) != 2*half {
		return nil, ErrForeign
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(&i.key.PublicKey, sum[:], new(big.Int).SetBytes(raw[:half]), new(big.Int).SetBytes(raw[half:])) {
		return nil, ErrForeign
	}
	body, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return nil, ErrForeign
	}
	c := &Claims{}
	if err := json.Unmarshal(body, c); err != nil {
		return nil, ErrForeign
	}
	return c, nil
}

// leeway is how far clocks may differ.
const leeway = time.Minute

// Valid looks at the times.
func (c *Claims) Valid(now time.Time) error {
	switch {
	case now.Add(leeway).Before(time.Unix(c.NotBefore, 0)):
		return errors.New("service account token is not valid yet")
	case now.Add(-leeway).After(time.Unix(c.Expiry, 0)):
		return errors.New("service account token has expired")
	case now.Add(leeway).Before(time.Unix(c.IssuedAt, 0)):
		return errors.New("service account token is issued in the future")
	}
	return nil
}

// For lists those of the wanted audiences that the token is for; wanted empty means the API server.
func (c *Claims) For(wanted []string) []string {
	if len(wanted) == 0 {
		wanted = []string{Audience}
	}
	var out []string
	for _, w := range wanted {
		if slices.Contains(c.Audience, w) {
			out = append(out, w)
		}
	}
	return out
}
