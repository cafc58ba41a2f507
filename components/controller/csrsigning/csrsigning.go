// Package csrsigning signs the requests for certificates that somebody has approved, for the signers that are Kubernetes' own: clients of the API server, and the client and serving certificates of
// kubelets (k/k pkg/controller/certificates/signer). It approves nothing by itself.
//
// Owns: status.certificate and the condition Failed of CertificateSigningRequests. Imports of ours: components/kubeapi, components/reconcile, components/controller/informers, engine/event.
// Goroutines: the loop. Time: simulated; certificates live in the time of whoever signs.
package csrsigning

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
)

// Workers is how many requests are worked on at a time.
const Workers = 5

// Lives of certificates (--cluster-signing-duration, and the least that is given to who asks for less).
const (
	lifeMax = 365 * 24 * time.Hour
	lifeMin = 10 * time.Minute
)

// Sign makes the certificate that a request asks for, good for a life, in PEM.
type Sign func(asked *x509.CertificateRequest, usage x509.KeyUsage, purposes []x509.ExtKeyUsage, life time.Duration) ([]byte, error)

// Controller is the csrsigning controller of all signers. Its keys are names of requests.
type Controller struct {
	in   *informers.Informers
	sign Sign
	*reconcile.Controller
}

// New makes the controller and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers, sign Sign) *Controller {
	c := &Controller{in: in, sign: sign}
	c.Controller = reconcile.New(pr, "csrsigning", c)
	in.CertificateRequests.Handle(func(ch kubeapi.Change[*certificatesv1.CertificateSigningRequest]) {
		if ch.Type != event.Deleted {
			c.Add(ch.Key(), ch.Cause)
		}
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() { c.Controller.Start(Workers) }

// Reconcile signs one request, or says why it cannot be signed.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	csr, ok := c.in.CertificateRequests.Get(key)
	if !ok || len(csr.Status.Certificate) > 0 || !has(csr, certificatesv1.CertificateApproved) || has(csr, certificatesv1.CertificateDenied) || has(csr, certificatesv1.CertificateFailed) {
		return reconcile.Done, nil
	}
	accepts := signers[csr.Spec.SignerName]
	if accepts == nil {
		return reconcile.Done, nil // somebody else's
	}
	block, _ := pem.Decode(csr.Spec.Request)
	if block == nil {
		return reconcile.Done, fmt.Errorf("unable to parse csr %q: no PEM", csr.Name)
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return reconcile.Done, fmt.Errorf("unable to parse csr %q: %w", csr.Name, err)
	}
	next := csr.DeepCopy()
	if err := accepts(asked, csr.Spec.Usages); err != nil {
		ps.Decide("refuse the certificate of %s: %v", csr.Name, err)
		next.Status.Conditions = append(next.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue,
			Reason: "SignerValidationFailure", Message: err.Error(), LastUpdateTime: metav1.NewTime(ps.Proc.Now().Truncate(time.Second))})
	} else {
		life := lifeMax
		if s := csr.Spec.ExpirationSeconds; s != nil {
			life = min(lifeMax, max(lifeMin, time.Duration(*s)*time.Second))
		}
		usage, purposes := usagesOf(csr.Spec.Usages)
		if next.Status.Certificate, err = c.sign(asked, usage, purposes, life); err != nil {
			return reconcile.Done, fmt.Errorf("error auto signing csr: %w", err)
		}
		ps.Decide("sign the certificate of %s for %s", csr.Name, csr.Spec.SignerName)
	}
	_, err = kubeapi.ReplaceStatus(ps.Proc, ps.Client, next)
	return reconcile.Done, kubeapi.IgnoreNotFound(err)
}

func has(csr *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) bool {
	return slices.ContainsFunc(csr.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == t && c.Status == corev1.ConditionTrue
	})
}

// signers tell what each of them wants of a request.
var signers = map[string]func(*x509.CertificateRequest, []certificatesv1.KeyUsage) error{
	certificatesv1.KubeAPIServerClientSignerName:        client,
	certificatesv1.KubeAPIServerClientKubeletSignerName: kubeletClient,
	certificatesv1.KubeletServingSignerName:             kubeletServing,
}

func client(_ *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	for _, u := range usages {
		switch u {
		case certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth:
		default:
			return fmt.Errorf("invalid usage for client certificate: %s", u)
		}
	}
	if !slices.Contains(usages, certificatesv1.UsageClientAuth) {
		return fmt.Errorf("missing required usage for client certificate: %s", certificatesv1.UsageClientAuth)
	}
	return nil
}

func kubeletClient(asked *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	switch {
	case !slices.Equal(asked.Subject.Organization, []string{"system:nodes"}):
		return errors.New("subject organization is not system:nodes")
	case len(asked.DNSNames) > 0:
		return errors.New("DNS subjectAltNames are not allowed")
	case len(asked.EmailAddresses) > 0:
		//lint:ignore ST1005 Kubernetes' own words
		return errors.New("Email subjectAltNames are not allowed")
	case len(asked.IPAddresses) > 0:
		return errors.New("IP subjectAltNames are not allowed")
	case len(asked.URIs) > 0:
		return errors.New("URI subjectAltNames are not allowed")
	case !strings.HasPrefix(asked.Subject.CommonName, "system:node:"):
		//lint:ignore ST1005 Kubernetes' own words
		return errors.New("subject common name does not begin with system:node:")
	}
	return exactly(usages, certificatesv1.UsageClientAuth)
}

func kubeletServing(asked *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	switch {
	case !slices.Equal(asked.Subject.Organization, []string{"system:nodes"}):
		return errors.New("subject organization is not system:nodes")
	case len(asked.DNSNames) == 0 && len(asked.IPAddresses) == 0:
		return errors.New("DNS or IP subjectAltName is required")
	case len(asked.EmailAddresses) > 0:
		//lint:ignore ST1005 Kubernetes' own words
		return errors.New("Email subjectAltNames are not allowed")
	case len(asked.URIs) > 0:
		return errors.New("URI subjectAltNames are not allowed")
	}
	if err := exactly(usages, certificatesv1.UsageServerAuth); err != nil {
		return err
	}
	if !strings.HasPrefix(asked.Subject.CommonName, "system:node:") {
		//lint:ignore ST1005 Kubernetes' own words
		return errors.New("subject common name does not begin with system:node:")
	}
	return nil
}

// exactly wants a purpose, signatures, and at most the one usage that keys of another sort cannot have.
func exactly(usages []certificatesv1.KeyUsage, purpose certificatesv1.KeyUsage) error {
	want := []string{string(purpose), string(certificatesv1.UsageDigitalSignature), string(certificatesv1.UsageKeyEncipherment)}
	slices.Sort(want)
	var got []string
	for _, u := range usages {
		got = append(got, string(u))
	}
	slices.Sort(got)
	got = slices.Compact(got)
	less := slices.DeleteFunc(slices.Clone(want), func(u string) bool { return u == string(certificatesv1.UsageKeyEncipherment) })
	if !slices.Equal(got, want) && !slices.Equal(got, less) {
		return fmt.Errorf("usages did not match %v", want)
	}
	return nil
}

var keyUsages = map[certificatesv1.KeyUsage]x509.KeyUsage{
	certificatesv1.UsageSigning: x509.KeyUsageDigitalSignature, certificatesv1.UsageDigitalSignature: x509.KeyUsageDigitalSignature,
	certificatesv1.UsageContentCommitment: x509.KeyUsageContentCommitment, certificatesv1.UsageKeyEncipherment: x509.KeyUsageKeyEncipherment,
	certificatesv1.UsageKeyAgreement: x509.KeyUsageKeyAgreement, certificatesv1.UsageDataEncipherment: x509.KeyUsageDataEncipherment,
}

// usagesOf are the usages in a certificate's terms; those that no signer here accepts are left out.
func usagesOf(all []certificatesv1.KeyUsage) (usage x509.KeyUsage, purposes []x509.ExtKeyUsage) {
	for _, u := range all {
		usage |= keyUsages[u]
		switch u {
		case certificatesv1.UsageClientAuth:
			purposes = append(purposes, x509.ExtKeyUsageClientAuth)
		case certificatesv1.UsageServerAuth:
			purposes = append(purposes, x509.ExtKeyUsageServerAuth)
		}
	}
	return usage, purposes
}
