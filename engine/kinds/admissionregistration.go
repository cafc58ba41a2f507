package kinds

import admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

// The kinds of admissionregistration.k8s.io/v1.
var (
	MutatingAdmissionPolicies = &Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicy", Resource: "mutatingadmissionpolicies", Singular: "mutatingadmissionpolicy", Categories: []string{"api-extensions"},
		Prefix: "/registry/mutatingadmissionpolicies/", New: func() Object { return &admissionregistrationv1.MutatingAdmissionPolicy{} }}
	MutatingAdmissionPolicyBindings = &Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicyBinding", Resource: "mutatingadmissionpolicybindings", Singular: "mutatingadmissionpolicybinding", Categories: []string{"api-extensions"},
		Prefix: "/registry/mutatingadmissionpolicybindings/", New: func() Object { return &admissionregistrationv1.MutatingAdmissionPolicyBinding{} }}
	MutatingWebhookConfigurations = &Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations", Singular: "mutatingwebhookconfiguration", Categories: []string{"api-extensions"},
		Prefix: "/registry/mutatingwebhookconfigurations/", New: func() Object { return &admissionregistrationv1.MutatingWebhookConfiguration{} }}
	ValidatingAdmissionPolicies = &Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy", Resource: "validatingadmissionpolicies", Singular: "validatingadmissionpolicy", Categories: []string{"api-extensions"},
		Prefix: "/registry/validatingadmissionpolicies/", Subresources: []Subresource{status}, New: func() Object { return &admissionregistrationv1.ValidatingAdmissionPolicy{} }}
	ValidatingAdmissionPolicyBindings = &Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding", Resource: "validatingadmissionpolicybindings", Singular: "validatingadmissionpolicybinding", Categories: []string{"api-extensions"},
		Prefix: "/registry/validatingadmissionpolicybindings/", New: func() Object { return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{} }}
	ValidatingWebhookConfigurations = &Kind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations", Singular: "validatingwebhookconfiguration", Categories: []string{"api-extensions"},
		Prefix: "/registry/validatingwebhookconfigurations/", New: func() Object { return &admissionregistrationv1.ValidatingWebhookConfiguration{} }}
)
