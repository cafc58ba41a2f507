package certificates

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

// legacySigner signed whatever it was asked to; v1 of the API does not have it.
const legacySigner = "kubernetes.io/legacy-unknown"

// expirationMin is the shortest life that may be asked for, in seconds.
const expirationMin = 600

func certificateSigningRequestResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.CertificateSigningRequests,
		Name: check.PathSegment,
		PrepareCreate: resource.Typed(func(o *certificatesv1.CertificateSigningRequest) {
			o.Status = certificatesv1.CertificateSigningRequestStatus{}
		}),
		PrepareUpdate:  resource.TypedUpdate(prepareUpdate),
		Stamp:          resource.TypedStamp(stamp),
		Validate:       resource.TypedCheck(func(o *certificatesv1.CertificateSigningRequest) field.ErrorList { return validate(o, nil) }),
		UpdateWhole:    true,
		ValidateUpdate: resource.TypedCheckUpdate(validateUpdate),
		Fields: map[string]func(kinds.Object) string{
			"spec.signerName": func(o kinds.Object) string { return o.(*certificatesv1.CertificateSigningRequest).Spec.SignerName },
		},
	}
}

// Parse reads a request for a certificate in PEM.
func Parse(data []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// prepareUpdate: what is asked for never changes; an approval writes conditions alone, the status all but who has approved.
func prepareUpdate(o, old *certificatesv1.CertificateSigningRequest, sub string) {
	o.Spec = old.Spec
	switch sub {
	case "approval":
		conditions := o.Status.Conditions
		o.Status = old.Status
		o.Status.Conditions = conditions
	case "status":
		keep(o, old, certificatesv1.CertificateApproved)
		keep(o, old, certificatesv1.CertificateDenied)
	default:
		o.Status = old.Status
	}
}

// keep takes the conditions of a type as they were, unless there are more or fewer of them, which is refused.
func keep(o, old *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) {
	had := withType(old, t)
	if len(had) != len(withType(o, t)) {
		return
	}
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == t {
			*c, had = had[0], had[1:]
		}
	}
}

func withType(o *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) (all []certificatesv1.CertificateSigningRequestCondition) {
	for _, c := range o.Status.Conditions {
		if c.Type == t {
			all = append(all, c)
		}
	}
	return all
}

// stamp gives conditions the times that they came without.
func stamp(o, old *certificatesv1.CertificateSigningRequest, now metav1.Time) {
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		if c.LastUpdateTime.IsZero() {
			c.LastUpdateTime = now
		}
		if c.LastTransitionTime.IsZero() {
			c.LastTransitionTime = now
			for _, had := range old.Status.Conditions {
				if had.Type == c.Type && had.Status == c.Status && !had.LastTransitionTime.IsZero() {
					c.LastTransitionTime = had.LastTransitionTime
					break
				}
			}
		}
	}
}

var usages = []certificatesv1.KeyUsage{certificatesv1.UsageAny, certificatesv1.UsageCRLSign, certificatesv1.UsageCertSign, certificatesv1.UsageClientAuth, certificatesv1.UsageCodeSigning,
	certificatesv1.UsageContentCommitment, certificatesv1.UsageDataEncipherment, certificatesv1.UsageDecipherOnly, certificatesv1.UsageDigitalSignature, certificatesv1.UsageEmailProtection,
	certificatesv1.UsageEncipherOnly, certificatesv1.UsageIPsecEndSystem, certificatesv1.UsageIPsecTunnel, certificatesv1.UsageIPsecUser, certificatesv1.UsageKeyAgreement,
	certificatesv1.UsageKeyEncipherment, certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC, certificatesv1.UsageOCSPSigning, certificatesv1.UsageSMIME,
	certificatesv1.UsageServerAuth, certificatesv1.UsageSigning, certificatesv1.UsageTimestamping}

// validate checks a request (k/k pkg/apis/certificates/validation); old is nil for creations.
func validate(o, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	asked, err := Parse(o.Spec.Request)
	if err == nil {
		err = asked.CheckSignature()
	}
	if err != nil {
		errs = append(errs, field.Invalid(spec.Child("request"), o.Spec.Request, err.Error()))
	}
	if len(o.Spec.Usages) == 0 {
		errs = append(errs, field.Required(spec.Child("usages"), ""))
	}
	for i, u := range o.Spec.Usages {
		if !slices.Contains(usages, u) {
			errs = append(errs, field.NotSupported(spec.Child("usages").Index(i), u, usages))
		}
	}
	for i, u := range o.Spec.Usages {
		if slices.Contains(o.Spec.Usages[:i], u) {
			errs = append(errs, field.Duplicate(spec.Child("usages").Index(i), u))
		}
	}
	if o.Spec.SignerName == legacySigner {
		errs = append(errs, field.Invalid(spec.Child("signerName"), o.Spec.SignerName, "the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, signerName(spec.Child("signerName"), o.Spec.SignerName)...)
	}
	if s := o.Spec.ExpirationSeconds; s != nil && *s < expirationMin {
		errs = append(errs, field.Invalid(spec.Child("expirationSeconds"), *s, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	errs = append(errs, conditions(field.NewPath("status", "conditions"), o, old)...)
	if old == nil || !bytes.Equal(o.Status.Certificate, old.Status.Certificate) {
		if err := certificate(o.Status.Certificate); err != nil {
			errs = append(errs, field.Invalid(field.NewPath("status", "certificate"), "<certificate data>", err.Error()))
		}
	}
	return errs
}

// signerName is a domain and a path in it (k/k pkg/apis/core/validation: ValidateSignerName).
func signerName(at *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	domain, path, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(path, "/") {
		return field.ErrorList{field.Invalid(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	var errs field.ErrorList
	if len(domain) > validation.DNS1123SubdomainMaxLength {
		errs = append(errs, field.TooLong(at, "", validation.DNS1123SubdomainMaxLength))
	}
	first := func(part string, check func(string) []string) { // only the first wrong label is told
		for _, label := range strings.Split(part, ".") {
			if whys := check(label); len(whys) > 0 {
				for _, why := range whys {
					errs = append(errs, field.Invalid(at, part, fmt.Sprintf("validating label %q: %s", label, why)))
				}
				return
			}
		}
	}
	first(domain, validation.IsDNS1123Label)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(at, domain, "should be a domain with at least two segments separated by dots"))
	}
	first(path, validation.IsDNS1123Subdomain)
	most := 2*validation.DNS1123SubdomainMaxLength + validation.DNS1123LabelMaxLength + 2
	if len(name) > most {
		errs = append(errs, field.TooLong(at, "", most))
	}
	return errs
}

func conditions(at *field.Path, o, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var errs field.ErrorList
	both := func(o *certificatesv1.CertificateSigningRequest) bool {
		return o != nil && len(withType(o, certificatesv1.CertificateApproved)) > 0 && len(withType(o, certificatesv1.CertificateDenied)) > 0
	}
	seen := map[certificatesv1.RequestConditionType]bool{}
	for i, c := range o.Status.Conditions {
		if c.Type == "" {
			errs = append(errs, field.Required(at.Index(i).Child("type"), ""))
		}
		allowed := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		switch c.Type {
		case certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
			allowed = allowed[1:2]
		}
		switch {
		case c.Status == "":
			errs = append(errs, field.Required(at.Index(i).Child("status"), ""))
		case !slices.Contains(allowed, c.Status):
			errs = append(errs, field.NotSupported(at.Index(i).Child("status"), c.Status, allowed))
		}
		if !both(old) && (c.Type == certificatesv1.CertificateApproved && seen[certificatesv1.CertificateDenied] || c.Type == certificatesv1.CertificateDenied && seen[certificatesv1.CertificateApproved]) {
			errs = append(errs, field.Invalid(at, c.Type, "Approved and Denied conditions are mutually exclusive"))
		}
		if seen[c.Type] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("type"), c.Type))
		}
		seen[c.Type] = true
	}
	return errs
}

// certificate checks what a signer has written.
func certificate(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	blocks := 0
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) != 0 {
			return errors.New("no PEM block headers are permitted")
		}
		blocks++
		all, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		data = rest
	}
	if blocks == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

func validateUpdate(o, old *certificatesv1.CertificateSigningRequest, sub string) field.ErrorList {
	errs := validate(o, old)
	at := field.NewPath("status", "conditions")
	for _, t := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed} {
		if len(withType(o, t)) < len(withType(old, t)) {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("updates may not remove a condition of type %q", t)))
		}
	}
	if sub != "approval" {
		for _, t := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied} {
			was, is := withType(old, t), withType(o, t)
			switch {
			case len(is) < len(was):
			case len(is) > len(was):
				errs = append(errs, field.Forbidden(at, fmt.Sprintf("updates may not add a condition of type %q", t)))
			case !apiequality.Semantic.DeepEqual(was, is):
				errs = append(errs, field.Forbidden(at, fmt.Sprintf("updates may not modify a condition of type %q\n%v", t, check.Diff(was, is))))
			}
		}
	}
	if !bytes.Equal(o.Status.Certificate, old.Status.Certificate) {
		at := field.NewPath("status", "certificate")
		if sub != "status" {
			errs = append(errs, field.Forbidden(at, "updates may not set certificate content"))
		} else if len(old.Status.Certificate) > 0 {
			errs = append(errs, field.Forbidden(at, "updates may not modify existing certificate content"))
		}
	}
	return errs
}
