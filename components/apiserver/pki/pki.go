// Package pki makes the certificates of one run: an authority, what the listeners show, what clients show, and the kubeconfig that holds them.
//
// All keys are ECDSA P-256 and live as long as the program; only the kubeconfig is written, readable by its owner alone. Imports nothing of ours. Goroutines: any. Time: wall.
package pki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"
)

// Certificates begin a little before now, since clocks differ, and hold for a year, as kubeadm's do.
const (
	before = 5 * time.Minute
	life   = 365 * 24 * time.Hour
)

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// NewAuthority makes an authority.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key of the certificate authority: %w", err)
	}
	t := template("kubernetes", nil)
	t.IsCA, t.BasicConstraintsValid, t.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	return &Authority{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

func template(name string, groups []string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		serial = big.NewInt(time.Now().UnixNano())
	}
	now := time.Now()
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name, Organization: groups}, NotBefore: now.Add(-before), NotAfter: now.Add(life)}
}

// Pool holds the authority's certificate.
func (a *Authority) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// Pair is a certificate and its key in PEM.
type Pair struct{ Cert, Key []byte }

func (a *Authority) sign(t *x509.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return Pair{}, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})}, nil
}

// Serving makes the certificate of the listeners: good for this machine's loopback names.
func (a *Authority) Serving() (tls.Certificate, error) {
	t := template("kube-apiserver", nil)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	t.DNSNames, t.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	p, err := a.sign(t)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("serving certificate: %w", err)
	}
	return tls.X509KeyPair(p.Cert, p.Key)
}

// Client makes the certificate of a user.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	t := template(user, groups)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	p, err := a.sign(t)
	if err != nil {
		return p, fmt.Errorf("certificate of %s: %w", user, err)
	}
	return p, nil
}

// backdated is how much earlier than now certificates that were asked for begin, for clocks that are slow; those that live shorter than short live that much longer for it.
const (
	backdated = 5 * time.Minute
	short     = 8 * time.Hour
)

// Sign makes the certificate that a request asks for: its names, these usages, and a life that ends no later than the authority's own (k/k pkg/controller/certificates/authority).
func (a *Authority) Sign(asked *x509.CertificateRequest, usage x509.KeyUsage, purposes []x509.ExtKeyUsage, life time.Duration) ([]byte, error) {
	t := template("", nil)
	t.Subject, t.DNSNames, t.IPAddresses, t.EmailAddresses, t.URIs = asked.Subject, asked.DNSNames, asked.IPAddresses, asked.EmailAddresses, asked.URIs
	t.KeyUsage, t.ExtKeyUsage, t.BasicConstraintsValid = usage, purposes, true
	now := time.Now()
	t.NotBefore, t.NotAfter = now.Add(-backdated), now.Add(life)
	if life >= short {
		t.NotAfter = t.NotAfter.Add(-backdated)
	}
	if t.NotAfter.After(a.cert.NotAfter) {
		t.NotAfter = a.cert.NotAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, asked.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// Server is an address as a kubeconfig names it.
type Server struct{ Name, URL string }

// Kubeconfig makes the file for a user: a context for each server; the first is the current one.
func (a *Authority) Kubeconfig(user string, p Pair, servers []Server) ([]byte, error) {
	type m = map[string]any
	var clusters, contexts []m
	for _, s := range servers {
		clusters = append(clusters, m{"name": s.Name, "cluster": m{"server": s.URL, "certificate-authority-data": a.pem}})
		contexts = append(contexts, m{"name": s.Name, "context": m{"cluster": s.Name, "user": user}})
	}
	return yaml.Marshal(m{"apiVersion": "v1", "kind": "Config", "clusters": clusters, "contexts": contexts, "current-context": servers[0].Name, "preferences": m{},
		"users": []m{{"name": user, "user": m{"client-certificate-data": p.Cert, "client-key-data": p.Key}}}})
}

// Write puts a kubeconfig in its place in one step, readable by its owner alone. It takes the place of a file only where that is a kubeconfig that this package wrote.
func Write(path string, data []byte) error {
	if have, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(have)) > 0 && !bytes.Contains(have, []byte("name: "+ContextPrefix)) {
		return fmt.Errorf("%s is a file of another program and is left alone", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone by then if all went well
	if _, err = f.Write(data); err == nil {
		err = f.Chmod(0o600)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ContextPrefix begins the names of all contexts that are written.
const ContextPrefix = "kubeviz"
