package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// webhookSeconds is how long a webhook may take where its configuration does not say.
const webhookSeconds = 10

func defaultValidatingWebhooks(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		check.SetDefault(&w.FailurePolicy, admissionregistrationv1.Fail)
		check.SetDefault(&w.MatchPolicy, admissionregistrationv1.Equivalent)
		check.SetDefault(&w.NamespaceSelector, metav1.LabelSelector{})
		check.SetDefault(&w.ObjectSelector, metav1.LabelSelector{})
		check.SetDefault(&w.TimeoutSeconds, webhookSeconds)
		defaultClient(&w.ClientConfig)
		defaultRules(w.Rules)
	}
}

func defaultMutatingWebhooks(c *admissionregistrationv1.MutatingWebhookConfiguration) {
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		check.SetDefault(&w.FailurePolicy, admissionregistrationv1.Fail)
		check.SetDefault(&w.MatchPolicy, admissionregistrationv1.Equivalent)
		check.SetDefault(&w.NamespaceSelector, metav1.LabelSelector{})
		check.SetDefault(&w.ObjectSelector, metav1.LabelSelector{})
		check.SetDefault(&w.TimeoutSeconds, webhookSeconds)
		check.SetDefault(&w.ReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)
		defaultClient(&w.ClientConfig)
		defaultRules(w.Rules)
	}
}

func defaultClient(c *admissionregistrationv1.WebhookClientConfig) {
	if c.Service != nil {
		check.SetDefault(&c.Service.Port, 443)
	}
}

func defaultRules(rules []admissionregistrationv1.RuleWithOperations) {
	for i := range rules {
		check.SetDefault(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}

// defaultMatch fills in what a policy or its binding matches, where it says anything of it.
func defaultMatch(m *admissionregistrationv1.MatchResources) {
	if m == nil {
		return
	}
	check.SetDefault(&m.MatchPolicy, admissionregistrationv1.Equivalent)
	check.SetDefault(&m.NamespaceSelector, metav1.LabelSelector{})
	check.SetDefault(&m.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionregistrationv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			check.SetDefault(&rules[i].Scope, admissionregistrationv1.AllScopes)
		}
	}
}
