package engine

import (
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"math/rand/v2"
	"time"
)

// authorityYears is how long kubeadm's root certificate is good for.
const authorityYears = 10

// newAuthority makes the certificate of the cluster's own authority, as kubeadm does at the beginning of a cluster, and gives it as PEM. The same random stream and instant make the same
// certificate: runs repeat, and the signatures of this kind of key need no randomness of their own.
func newAuthority(rng *rand.Rand, start time.Time) (string, error) {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(rng.Uint32())
	}
	key := ed25519.NewKeyFromSeed(seed)
	t := &x509.Certificate{SerialNumber: new(big.Int).SetUint64(rng.Uint64() >> 1), Subject: pkix.Name{CommonName: "kubernetes"}, DNSNames: []string{"kubernetes"},
		NotBefore: start.UTC(), NotAfter: start.UTC().AddDate(authorityYears, 0, 0), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(nil, t, t, key.Public(), key)
	if err != nil {
		return "", fmt.Errorf("root certificate: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), nil
}
