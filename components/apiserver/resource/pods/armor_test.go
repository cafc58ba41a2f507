package pods

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestAnnotationsForAppArmorBecomeFields(t *testing.T) {
	const notice = `metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`
	for _, c := range []struct {
		name, annotation, pod, container string // profiles as JSON
		want                             string
		warned                           bool
	}{
		{"only the annotation", "unconfined", "", "", `{"type":"Unconfined"}`, true},
		{"the runtime's", "runtime/default", "", "", `{"type":"RuntimeDefault"}`, true},
		{"a file", "localhost/k8s-x", "", "", `{"type":"Localhost","localhostProfile":"k8s-x"}`, true},
		{"no file", "localhost/", "", "", `null`, true},
		{"a file with a blank", "localhost/ x", "", "", `null`, true},
		{"nothing known", "nope", "", "", `null`, true},
		{"what the pod says", "unconfined", `{"type":"Unconfined"}`, "", `null`, false},
		{"another than the pod says", "runtime/default", `{"type":"Unconfined"}`, "", `{"type":"RuntimeDefault"}`, true},
		{"annotation and field", "unconfined", "", `{"type":"RuntimeDefault"}`, `{"type":"RuntimeDefault"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			profile := func(text string) (p *corev1.AppArmorProfile) {
				if text == "" {
					return nil
				}
				if err := json.Unmarshal([]byte(text), &p); err != nil {
					t.Fatal(err)
				}
				return p
			}
			p := &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{AppArmorProfile: profile(c.pod)}, Containers: []corev1.Container{{Name: "c"}}}}
			p.Annotations = map[string]string{corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + "c": c.annotation}
			if c.container != "" {
				p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{AppArmorProfile: profile(c.container)}
			}
			said := Resource().Notice(p)
			if slices.Contains(said, notice) != c.warned || len(said) > 1 {
				t.Errorf("says %q", said)
			}
			preparePod(p)
			var got *corev1.AppArmorProfile
			if s := p.Spec.Containers[0].SecurityContext; s != nil {
				got = s.AppArmorProfile
			}
			if text, _ := json.Marshal(got); string(text) != c.want {
				t.Errorf("profile %s, want %s", text, c.want)
			}
		})
	}
}
