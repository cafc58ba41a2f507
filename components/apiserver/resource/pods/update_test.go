package pods

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver/resource/check"
)

func TestChangesOfPodsAreRefusedInTheWordsOfKubernetes(t *testing.T) {
	type change struct {
		name, old, now string // now is laid over old
		want           []string
	}
	const only = "spec: Forbidden: " + podUpdateText + "\n"
	for _, c := range []change{
		{"nothing", "", "", nil},
		{"another image", "", spec(`"containers":[{"name":"c","image":"b"}]`), nil},
		{"an image of nothing", "", spec(`"containers":[{"name":"c","image":""}]`), []string{`spec.containers[0].image: Required value`, `spec.containers[0].image: Required value`}},
		{"one container more", "", spec(`"containers":[{"name":"c","image":"nginx"},{"name":"d","image":"b"}]`), []string{`spec.containers: Forbidden: pod updates may not add or remove containers`}},
		{"a first deadline", "", spec(`"activeDeadlineSeconds":5`), nil},
		{"a later deadline", spec(`"activeDeadlineSeconds":5`), spec(`"activeDeadlineSeconds":6`), []string{`spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value`}},
		{"no deadline any more", spec(`"activeDeadlineSeconds":5`), spec(`"activeDeadlineSeconds":null`), []string{`spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value`}},
		{"one toleration more", spec(`"tolerations":[{"key":"a","operator":"Exists"}]`), spec(`"tolerations":[{"key":"b","operator":"Exists"},{"key":"a","operator":"Exists"}]`), nil},
		{"one toleration less", spec(`"tolerations":[{"key":"a","operator":"Exists"}]`), spec(`"tolerations":[]`), []string{`spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds`}},
		{"other seconds of a toleration", spec(`"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":1}]`), spec(`"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":9}]`), nil},
		{"one gate less", spec(`"schedulingGates":[{"name":"a"},{"name":"b"}]`), spec(`"schedulingGates":[{"name":"b"}]`), nil},
		{"one gate more", spec(`"schedulingGates":[{"name":"a"}]`), spec(`"schedulingGates":[{"name":"a"},{"name":"b"}]`), []string{`spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'`}},
		{"a gated pod is told more", spec(`"schedulingGates":[{"name":"a"}],"nodeSelector":{"x":"1"}`), spec(`"nodeSelector":{"x":"1","y":"2"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"z","operator":"Exists"}]}]}}}`), nil},
		{"a gated pod is told something else", spec(`"schedulingGates":[{"name":"a"}],"nodeSelector":{"x":"1"}`), spec(`"nodeSelector":{"x":"2"}`), []string{`spec.nodeSelector: Invalid value: {"x":"2"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`}},
		{"a gated pod loses a term", spec(`"schedulingGates":[{"name":"a"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"z","operator":"Exists"}]}]}}}`), spec(`"affinity":null`), []string{`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed`}},
		{"an AppArmor annotation", `{"spec":{"securityContext":{"appArmorProfile":{"type":"Unconfined"}}}}`, `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"}}}`, []string{`metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not add AppArmor annotations`}},
		{"a hostname", "", spec(`"hostname":"h"`), []string{only}},
		{"a node selector of a pod without gates", "", spec(`"nodeSelector":{"x":"1"}`), []string{only}},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, now := podOf(t, c.old), podOf(t, c.old, c.now)
			want := strings.Join(c.want, "\n")
			if strings.HasPrefix(want, only) {
				want += check.Diff(old.Spec, now.Spec)
			}
			if got := lines(validatePodUpdate(now, old, "")); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAPodMayBeHealedOfANegativeGracePeriod(t *testing.T) {
	old, now := podOf(t), podOf(t)
	*old.Spec.TerminationGracePeriodSeconds, *now.Spec.TerminationGracePeriodSeconds = -1, 1
	if got := lines(validatePodUpdate(now, old, "")); got != "" {
		t.Error(got)
	}
}

func TestStatusesThatNoKubeletReportsAreRefused(t *testing.T) {
	ended := func(code string) string {
		return `{"spec":{"restartPolicy":"OnFailure"},"status":{"containerStatuses":[{"name":"c","image":"a","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":` + code + `}}}]}}`
	}
	const runs = `{"status":{"containerStatuses":[{"name":"c","image":"a","imageID":"","ready":false,"restartCount":0,"state":{"running":{}}}]}}`
	for _, c := range []struct {
		name, old, now string
		want           []string
	}{
		{"addresses", "", `{"status":{"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"hostIP":"10.0.0.2","hostIPs":[{"ip":"10.0.0.2"}]}}`, nil},
		{"an address without the list", "", `{"status":{"podIP":"10.0.0.1"}}`, []string{`status.podIPs: Invalid value: null: podIP and podIPs must either both be set or both be unset`}},
		{"another address in the list", "", `{"status":{"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.9"}]}}`, []string{"status.podIPs[0].ip: Invalid value: \"10.0.0.9\": must be equal to `podIP`"}},
		{"two addresses of one family", "", `{"status":{"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]}}`, []string{`status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family`}},
		{"a container that ended well runs again", ended("0"), runs, []string{`status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state`}},
		{"a container that failed runs again", ended("1"), runs, nil},
		{"another class", "", `{"status":{"qosClass":"Guaranteed"}}`, []string{`status.qosClass: Invalid value: "Guaranteed": field is immutable`}},
		{"a condition without a name", "", `{"status":{"conditions":[{"type":"a b","status":"True","observedGeneration":-1}]}}`, []string{`status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer`,
			`status.conditions[0].Type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`}},
		{"a nomination of a bound pod", spec(`"nodeName":"n"`), `{"status":{"nominatedNodeName":"m"}}`, []string{`status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, now := withStatus(t, c.old), withStatus(t, c.old, c.now)
			keepStatus(now, old)
			if got := lines(validatePodUpdate(now, old, "status")); got != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestAWriterOfStatusThatKnowsNoGenerationsKeepsThem(t *testing.T) {
	old, now := podOf(t), podOf(t)
	old.Status.ObservedGeneration = 3
	old.Status.Conditions = []corev1.PodCondition{{Type: "A", ObservedGeneration: 1}, {Type: "A", ObservedGeneration: 2}}
	now.Status.Conditions = []corev1.PodCondition{{Type: "B"}, {Type: "A"}, {Type: "A"}}
	keepStatus(now, old)
	if c := now.Status.Conditions; now.Status.ObservedGeneration != 3 || c[0].ObservedGeneration != 0 || c[1].ObservedGeneration != 1 || c[2].ObservedGeneration != 2 {
		t.Errorf("%+v", now.Status)
	}
}
