package admissionregistration

import (
	"encoding/json"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

func TestWebhooksAreFilledIn(t *testing.T) {
	c := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{{
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{}}, Rules: make([]admissionregistrationv1.RuleWithOperations, 1),
	}}}
	mutatingWebhookConfigurationResource().Default(c)
	got, _ := json.Marshal(c.Webhooks[0])
	want := `{"name":"","clientConfig":{"service":{"namespace":"","name":"","port":443}},"rules":[{"scope":"*"}],"failurePolicy":"Fail","matchPolicy":"Equivalent","namespaceSelector":{},` +
		`"objectSelector":{},"sideEffects":null,"timeoutSeconds":10,"admissionReviewVersions":null,"reinvocationPolicy":"Never"}`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
