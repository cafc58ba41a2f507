package kinds

import (
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
)

// Kinds that are asked and answered but never stored. Their rows have no Prefix; Verbs says what may be done with them. They are no part of All, since nothing can be listed,
// watched or shown of them.
var (
	Bindings = &Kind{Version: "v1", Kind: "Binding", Resource: "bindings", Singular: "binding", Namespaced: true, Verbs: onlyMade,
		New: func() Object { return &corev1.Binding{} }}
	ComponentStatuses = &Kind{Version: "v1", Kind: "ComponentStatus", Resource: "componentstatuses", Singular: "componentstatus", Short: []string{"cs"}, Verbs: []string{"get", "list"},
		Deprecated: "v1 ComponentStatus is deprecated in v1.19+",
		New:        func() Object { return &corev1.ComponentStatus{} }}
	SelfSubjectReviews = &Kind{Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview", Resource: "selfsubjectreviews", Singular: "selfsubjectreview",
		Verbs: onlyMade, New: func() Object { return &authenticationv1.SelfSubjectReview{} }}
	TokenReviews = &Kind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenReview", Resource: "tokenreviews", Singular: "tokenreview",
		Verbs: onlyMade, New: func() Object { return &authenticationv1.TokenReview{} }}
	LocalSubjectAccessReviews = &Kind{Group: "authorization.k8s.io", Version: "v1", Kind: "LocalSubjectAccessReview", Resource: "localsubjectaccessreviews",
		Singular: "localsubjectaccessreview", Namespaced: true, Verbs: onlyMade, New: func() Object { return &authorizationv1.LocalSubjectAccessReview{} }}
	SelfSubjectAccessReviews = &Kind{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview", Resource: "selfsubjectaccessreviews",
		Singular: "selfsubjectaccessreview", Verbs: onlyMade, New: func() Object { return &authorizationv1.SelfSubjectAccessReview{} }}
	SelfSubjectRulesReviews = &Kind{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectRulesReview", Resource: "selfsubjectrulesreviews",
		Singular: "selfsubjectrulesreview", Verbs: onlyMade, New: func() Object { return &authorizationv1.SelfSubjectRulesReview{} }}
	SubjectAccessReviews = &Kind{Group: "authorization.k8s.io", Version: "v1", Kind: "SubjectAccessReview", Resource: "subjectaccessreviews", Singular: "subjectaccessreview",
		Verbs: onlyMade, New: func() Object { return &authorizationv1.SubjectAccessReview{} }}

	virtual = []*Kind{Bindings, ComponentStatuses, SelfSubjectReviews, TokenReviews, LocalSubjectAccessReviews, SelfSubjectAccessReviews, SelfSubjectRulesReviews, SubjectAccessReviews,
		NodeMetrics, PodMetrics}
)

// Virtual lists the kinds that are never stored, in the order of discovery.
func Virtual() []*Kind { return slices.Clone(virtual) }

// Stored reports whether objects of the kind are kept in the store.
func (k *Kind) Stored() bool { return k.Prefix != "" }
