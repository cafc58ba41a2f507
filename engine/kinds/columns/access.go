package columns

import (
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"example.com/kubeviz/engine/kinds"
)

var roleBindings = append([]Column{
	name,
	text("Role", rbacv1.RoleBinding{}.SwaggerDoc()["roleRef"], func(b *rbacv1.RoleBinding) string { return b.RoleRef.Kind + "/" + b.RoleRef.Name }),
	age,
}, subjects("roleBinding", func(b *rbacv1.RoleBinding) []rbacv1.Subject { return b.Subjects })...)

var clusterRoleBindings = append([]Column{
	name,
	text("Role", rbacv1.ClusterRoleBinding{}.SwaggerDoc()["roleRef"], func(b *rbacv1.ClusterRoleBinding) string { return b.RoleRef.Kind + "/" + b.RoleRef.Name }),
	age,
}, subjects("clusterRoleBinding", func(b *rbacv1.ClusterRoleBinding) []rbacv1.Subject { return b.Subjects })...)

// subjects are the columns of who gets the role.
func subjects[T kinds.Object](what string, of func(T) []rbacv1.Subject) []Column {
	list := func(kind string) func(T) string {
		return func(o T) string {
			var names []string
			for _, s := range of(o) {
				switch {
				case s.Kind != kind:
				case kind == rbacv1.ServiceAccountKind:
					names = append(names, s.Namespace+"/"+s.Name)
				default:
					names = append(names, s.Name)
				}
			}
			return strings.Join(names, ", ")
		}
	}
	return []Column{
		wide(text("Users", "Users in the "+what, list(rbacv1.UserKind))),
		wide(text("Groups", "Groups in the "+what, list(rbacv1.GroupKind))),
		wide(text("ServiceAccounts", "ServiceAccounts in the "+what, list(rbacv1.ServiceAccountKind))),
	}
}

var csrDocs = certificatesv1.CertificateSigningRequestSpec{}.SwaggerDoc()

var certificateSigningRequests = []Column{
	name,
	age,
	text("SignerName", csrDocs["signerName"], func(r *certificatesv1.CertificateSigningRequest) string { return orElse(r.Spec.SignerName, "<none>") }),
	text("Requestor", csrDocs["request"], func(r *certificatesv1.CertificateSigningRequest) string { return r.Spec.Username }),
	text("RequestedDuration", csrDocs["expirationSeconds"], func(r *certificatesv1.CertificateSigningRequest) string {
		if r.Spec.ExpirationSeconds == nil {
			return "<none>"
		}
		return duration.HumanDuration(time.Duration(*r.Spec.ExpirationSeconds) * time.Second)
	}),
	text("Condition", certificatesv1.CertificateSigningRequestStatus{}.SwaggerDoc()["conditions"], csrCondition),
}

func csrCondition(r *certificatesv1.CertificateSigningRequest) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range r.Status.Conditions {
		has[c.Type] = true
	}
	s := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		s = "Denied"
	case has[certificatesv1.CertificateApproved]:
		s = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		s += ",Failed"
	}
	if len(r.Status.Certificate) > 0 {
		s += ",Issued"
	}
	return s
}

const webhooksDoc = "Webhooks indicates the number of webhooks registered in this configuration"

var mutatingWebhooks = []Column{
	name,
	number("Webhooks", webhooksDoc, func(c *admissionregistrationv1.MutatingWebhookConfiguration) int { return len(c.Webhooks) }),
	age,
}

var validatingWebhooks = []Column{
	name,
	number("Webhooks", webhooksDoc, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) int { return len(c.Webhooks) }),
	age,
}

const (
	paramKindDoc  = "ParamKind specifies the kind of resources used to parameterize this policy"
	policyNameDoc = "PolicyName indicates the policy definition which the policy binding binded to"
	paramRefDoc   = "ParamRef indicates the param resource which sets the configuration param"
)

var validatingAdmissionPolicies = []Column{
	name,
	number("Validations", "Validations indicates the number of validation rules defined in this configuration", func(p *admissionregistrationv1.ValidatingAdmissionPolicy) int { return len(p.Spec.Validations) }),
	text("ParamKind", paramKindDoc, func(p *admissionregistrationv1.ValidatingAdmissionPolicy) string { return paramKind(p.Spec.ParamKind) }),
	age,
}

var mutatingAdmissionPolicies = []Column{
	name,
	number("Mutations", "Mutation indicates the number of mutations rules defined in this configuration", func(p *admissionregistrationv1.MutatingAdmissionPolicy) int { return len(p.Spec.Mutations) }),
	text("ParamKind", paramKindDoc, func(p *admissionregistrationv1.MutatingAdmissionPolicy) string { return paramKind(p.Spec.ParamKind) }),
	age,
}

var validatingAdmissionPolicyBindings = []Column{
	name,
	text("PolicyName", policyNameDoc, func(b *admissionregistrationv1.ValidatingAdmissionPolicyBinding) string { return b.Spec.PolicyName }),
	text("ParamRef", paramRefDoc, func(b *admissionregistrationv1.ValidatingAdmissionPolicyBinding) string {
		return paramRef(b.Spec.ParamRef)
	}),
	age,
}

var mutatingAdmissionPolicyBindings = []Column{
	name,
	text("PolicyName", policyNameDoc, func(b *admissionregistrationv1.MutatingAdmissionPolicyBinding) string { return b.Spec.PolicyName }),
	text("ParamRef", paramRefDoc, func(b *admissionregistrationv1.MutatingAdmissionPolicyBinding) string {
		return paramRef(b.Spec.ParamRef)
	}),
	age,
}

func paramKind(k *admissionregistrationv1.ParamKind) string {
	if k == nil {
		return "<unset>"
	}
	return k.APIVersion + "/" + k.Kind
}

// paramRef shows "*" for the namespace where none is named: from here one cannot tell whether the parameters have one.
func paramRef(r *admissionregistrationv1.ParamRef) string {
	switch {
	case r == nil:
	case r.Name != "":
		return orElse(r.Namespace, "*") + "/" + r.Name
	case r.Selector != nil:
		return r.Selector.String()
	}
	return "<unset>"
}
