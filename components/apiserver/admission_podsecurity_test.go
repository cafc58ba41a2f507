package apiserver_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// strict is what the level "restricted" wants of a pod with one container.
const strict = `allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set ` +
	`securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set ` +
	`securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`

// asked sends a request as an administrator and returns the whole answer.
func asked(c *apitest.Cluster, r *kubeapi.Request) (resp *kubeapi.Response) {
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		var err error
		if resp, err = client.Do(p, r); resp == nil {
			resp = &kubeapi.Response{Err: err}
		}
	})
	return resp
}

func TestPodSecurityHoldsPodsToTheLevelOfTheirNamespace(t *testing.T) {
	c := apitest.New(t)
	labelled := func(name string, labels map[string]string) *kubeapi.Response {
		return asked(c, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Namespaces, Name: name, Object: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}})
	}
	for name, labels := range map[string]map[string]string{
		"strict": {"pod-security.kubernetes.io/enforce": "restricted"},
		"old":    {"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "v1.24"},
		"warned": {"pod-security.kubernetes.io/warn": "restricted", "pod-security.kubernetes.io/audit": "baseline"},
	} {
		refusedAs(t, labelled(name, labels).Err, "")
		c.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}}) // no controller makes it here
	}
	refusedAs(t, labelled("wrong", map[string]string{"pod-security.kubernetes.io/enforce": "strong", "pod-security.kubernetes.io/warn-version": "1.3"}).Err,
		`Namespace "wrong" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strong": must be one of privileged, baseline, restricted, `+
			`metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.3": must be "latest" or "v1.x"]`)

	good := func(p *corev1.Pod) {
		no, yes := false, true
		p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: &no, RunAsNonRoot: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	}
	privileged := func(p *corev1.Pod) {
		yes := true
		p.Spec.HostNetwork = true
		p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &yes}
	}
	for _, row := range []struct {
		what, namespace string
		change          func(*corev1.Pod)
		refused         string
		warnings        []string
	}{
		{"an ordinary pod where no label is", "default", func(*corev1.Pod) {}, "", nil},
		{"an ordinary pod in a strict namespace", "strict", func(*corev1.Pod) {}, `pods "p" is forbidden: violates PodSecurity "restricted:latest": ` + strict, nil},
		{"a good one there", "strict", good, "", nil},
		{"an ordinary one under baseline", "old", func(*corev1.Pod) {}, "", nil},
		{"a privileged one under baseline", "old", privileged,
			`pods "p" is forbidden: violates PodSecurity "baseline:v1.24": host namespaces (hostNetwork=true), privileged (container "c" must not set securityContext.privileged=true)`, nil},
		{"an ordinary one where people are only warned", "warned", func(*corev1.Pod) {}, "", []string{`would violate PodSecurity "restricted:latest": ` + strict}},
	} {
		pod := apitest.Pod("p", row.change)
		pod.Namespace = row.namespace
		got := asked(c, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Pods, Namespace: row.namespace, Object: pod, DryRun: true})
		if message := errText(got.Err); message != row.refused || !slices.Equal(got.Warnings, row.warnings) {
			t.Errorf("%s is answered %q with %q", row.what, message, got.Warnings)
		}
	}

	// Templates are let in with a warning: the pods they make will not be.
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "strict", Name: "d"}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: apitest.Pod("p", func(*corev1.Pod) {}).Spec}}}
	got := asked(c, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Deployments, Namespace: "strict", Object: d})
	if want := []string{`would violate PodSecurity "restricted:latest": ` + strict}; got.Err != nil || !slices.Equal(got.Warnings, want) {
		t.Errorf("a deployment in a strict namespace: %v, %q", got.Err, got.Warnings)
	}
}

func TestANamespaceThatBecomesStricterTellsOfThePodsThatWouldNotBeLetIn(t *testing.T) {
	c := apitest.New(t)
	for _, name := range []string{"b", "a", "c"} {
		c.Create(apitest.Pod(name, func(*corev1.Pod) {}))
	}
	c.Create(apitest.Pod("host", func(p *corev1.Pod) { p.Spec.HostPID = true }))
	label := func(level string) *kubeapi.Response {
		return asked(c, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Namespaces, Name: "default", PatchType: "application/merge-patch+json",
			Patch: []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"` + level + `"}}}`)})
	}
	for _, row := range []struct {
		level string
		want  []string
	}{
		{"baseline", []string{`existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"`, `host: host namespaces`}},
		{"restricted", []string{`existing pods in namespace "default" violate the new PodSecurity enforce level "restricted:latest"`,
			`a (and 2 other pods): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile`,
			`host: host namespaces, allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile`}},
		{"baseline", nil},
		{"privileged", nil},
	} {
		if got := label(row.level); got.Err != nil || !slices.Equal(got.Warnings, row.want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", row.level, got.Err, strings.Join(got.Warnings, "\n"), strings.Join(row.want, "\n"))
		}
	}
}
