package pods

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func debugger(text string) string {
	return spec(`"ephemeralContainers":[{"name":"e","image":"busybox","terminationMessagePolicy":"File","imagePullPolicy":"Always"` + text + `}]`)
}

func TestContainersForDebuggingAreAddedAndStay(t *testing.T) {
	const static = `{"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"n"}}`
	for _, c := range []struct {
		name, old, now string
		want           []string
	}{
		{"the first one", "", debugger(`,"stdin":true,"tty":true,"targetContainerName":"c"`), nil},
		{"another one", debugger(""), spec(`"ephemeralContainers":[{"name":"f","image":"a","terminationMessagePolicy":"File","imagePullPolicy":"Always"},{"name":"e","image":"busybox","terminationMessagePolicy":"File","imagePullPolicy":"Always"}]`), nil},
		{"one with the name of a container", "", spec(`"ephemeralContainers":[{"name":"c","image":"a"}]`), []string{`spec.ephemeralContainers[0].name: Duplicate value: "c"`}},
		{"one without an image", "", spec(`"ephemeralContainers":[{"name":"e"}]`), []string{`spec.ephemeralContainers[0].image: Required value`}},
		{"one with a probe", "", debugger(`,"livenessProbe":{"exec":{"command":["a"]}}`), []string{`spec.ephemeralContainers[0].livenessProbe: Forbidden: cannot be set for an Ephemeral Container`}},
		{"none any more", debugger(""), spec(`"ephemeralContainers":[]`), []string{"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be removed\n"}},
		{"a terminal where none was", debugger(""), debugger(`,"tty":true`), []string{"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be changed\n" + `@@ -27,6 +27,6 @@
  "SecurityContext": null,
  "Stdin": false,
  "StdinOnce": false,
- "TTY": false,
+ "TTY": true,
  "TargetContainerName": ""
 }
`}},
		{"a pod from a file", static, debugger(""), []string{`[]: Forbidden: static pods do not support ephemeral containers`}},
		{"more than that", "", `{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"other"}]},"status":{"phase":"Running"}}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, now := podOf(t, c.old), podOf(t, c.old, c.now)
			onlyEphemeral(now, old)
			if now.Spec.NodeName != old.Spec.NodeName || now.Spec.Containers[0].Image != old.Spec.Containers[0].Image || now.Status.Phase != old.Status.Phase || now.Labels["a"] != "" {
				t.Errorf("more was changed than may be: %v", now)
			}
			got := lines(validatePodUpdate(now, old, ephemeralPart))
			if want := strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestOnlyCPUAndMemoryOfRunningContainersAreResized(t *testing.T) {
	const has = `"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"200m","memory":"128Mi"}}`
	const only = "spec: Forbidden: only cpu and memory resources are mutable"
	for _, c := range []struct {
		name, old, now string
		want           []string
	}{
		{"more CPU", container(has), container(`"resources":{"requests":{"cpu":"150m","memory":"64Mi"},"limits":{"cpu":"300m","memory":"128Mi"}}`), nil},
		{"less memory", container(has), container(`"resources":{"requests":{"cpu":"100m","memory":"32Mi"},"limits":{"cpu":"200m","memory":"64Mi"}}`), nil},
		{"a limit more", container(`"resources":{"requests":{"cpu":"100m"}}`), container(`"resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"1"}}`), nil},
		{"more than the limit", container(has), container(`"resources":{"requests":{"cpu":"500m","memory":"64Mi"},"limits":{"cpu":"200m","memory":"128Mi"}}`),
			[]string{`spec.containers[0].resources.requests: Invalid value: "500m": must be less than or equal to cpu limit of 200m`}},
		{"another class", container(has), container(`"resources":{"requests":{"cpu":"200m","memory":"128Mi"},"limits":{"cpu":"200m","memory":"128Mi"}}`),
			[]string{`spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing`}},
		{"something where nothing was", "", container(`"resources":{"requests":{"cpu":"200m"}}`), []string{`spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing`}},
		{"a request less", container(`"resources":{"requests":{"cpu":"100m","memory":"64Mi"}}`), container(`"resources":{"requests":{"cpu":"100m"}}`),
			[]string{`spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed`}},
		{"a limit less", container(has), container(`"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"200m"}}`),
			[]string{`spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed`}},
		{"storage", container(has), container(`"resources":{"requests":{"cpu":"100m","memory":"64Mi","ephemeral-storage":"1Gi"},"limits":{"cpu":"200m","memory":"128Mi"}}`), []string{only}},
		{"a container more", container(has), spec(`"containers":[{"name":"c","image":"nginx",` + has + `},{"name":"d","image":"nginx"}]`), []string{`spec: Forbidden: containers may not be added or removed on resize`}},
		{"a container by another name", container(has), spec(`"containers":[{"name":"d","image":"nginx",` + has + `}]`), []string{`spec: Forbidden: containers may not be renamed or reordered on resize`}},
		{"an init container", spec(`"initContainers":[{"name":"i","image":"a",` + has + `}]`), spec(`"initContainers":[{"name":"i","image":"a","resources":{"requests":{"cpu":"1m","memory":"64Mi"},"limits":{"cpu":"200m","memory":"128Mi"}}}]`),
			nil},
		{"storage of an init container", spec(`"initContainers":[{"name":"i","image":"a",` + has + `}]`), spec(`"initContainers":[{"name":"i","image":"a","resources":{"requests":{"cpu":"100m","memory":"64Mi","ephemeral-storage":"1Gi"},"limits":{"cpu":"200m","memory":"128Mi"}}}]`),
			[]string{`spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable`}},
		{"a pod as a whole", spec(has), spec(`"resources":{"requests":{"cpu":"150m","memory":"64Mi"},"limits":{"cpu":"300m","memory":"128Mi"}}`), nil},
		{"a request of a pod less", spec(has), spec(`"resources":{"requests":{"cpu":"100m","memory":null},"limits":{"cpu":"200m","memory":"128Mi"}}`), nil},
		{"huge pages of a pod", spec(has), spec(`"resources":{"requests":{"cpu":"100m","memory":"64Mi","hugepages-2Mi":"2Mi"},"limits":{"cpu":"200m","memory":"128Mi","hugepages-2Mi":"2Mi"}}`),
			[]string{`spec: Forbidden: only cpu and memory resources are mutable at pod-level`}},
		{"a sidecar", spec(`"initContainers":[{"name":"i","image":"a","restartPolicy":"Always",` + has + `}]`), spec(`"initContainers":[{"name":"i","image":"a","restartPolicy":"Always","resources":{"requests":{"cpu":"1m","memory":"64Mi"},"limits":{"cpu":"200m","memory":"128Mi"}}}]`), nil},
		{"how it is resized", container(has), container(has + `,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`), []string{only}},
		{"a pod from a file", `{"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"n"}}`, "", []string{`[]: Forbidden: static pods cannot be resized`}},
		{"a pod of Windows", spec(`"os":{"name":"windows"}`), "", []string{`[]: Forbidden: windows pods cannot be resized`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, now := podOf(t, c.old), podOf(t, c.old, c.now)
			now.Spec.NodeName, now.Status.Phase, now.Finalizers = "elsewhere", corev1.PodFailed, []string{"a/b"}
			onlyResources(now, old)
			got := lines(validatePodUpdate(now, old, resizePart))
			if want := strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAKubeletThatDoesNotTellWhatContainersHaveCannotResize(t *testing.T) {
	old := podOf(t, container(`"resources":{"requests":{"cpu":"100m"}}`))
	old.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	now := old.DeepCopy()
	if got, want := lines(validatePodUpdate(now, old, resizePart)), `spec: Forbidden: Pod running on node without support for resize`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	old.Status.ContainerStatuses[0].Resources = &corev1.ResourceRequirements{}
	if got := lines(validatePodUpdate(now, old, resizePart)); got != "" {
		t.Errorf("refused: %s", got)
	}
}
