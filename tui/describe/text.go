package describe

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
)

// linesMost bounds a text.
const linesMost = 5000

// YAML of an object as kubectl get -o yaml prints it, managed fields left out. Lines are not sanitised.
func YAML(s Subject) []string {
	if s.Object == nil {
		return nil
	}
	o := s.Object.DeepCopyObject().(kinds.Object)
	o.SetManagedFields(nil)
	o.GetObjectKind().SetGroupVersionKind(s.Kind.GVK())
	data, err := yaml.Marshal(o)
	if err != nil {
		return []string{err.Error()}
	}
	return lines(string(data))
}

func lines(text string) []string {
	out := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(out) > linesMost {
		out = append(out[:linesMost], "…")
	}
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return out
}

// printer writes the indented fields of kubectl describe.
type printer struct {
	w   io.Writer
	now time.Time
}

func (p *printer) put(level int, format string, args ...any) {
	io.WriteString(p.w, strings.Repeat("  ", level)) // a strings.Builder under a tabwriter does not fail
	fmt.Fprintf(p.w, format+"\n", args...)
}

func (p *printer) field(level int, name, value string) { p.put(level, "%s:\t%s", name, flat(value)) }

// flat keeps a value on its line and in its column.
func flat(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(s) }

// Text is what kubectl describe prints of an object, with ages at now. Lines are not sanitised.
func Text(w *world.World, s Subject, now time.Time) []string {
	if s.Object == nil {
		return nil
	}
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	p := &printer{tw, now}
	p.field(0, "Name", s.Object.GetName())
	switch o := s.Object.(type) {
	case *corev1.Pod:
		p.pod(o)
	case *corev1.Node:
		p.node(w, o)
	case *appsv1.Deployment:
		p.deployment(w, o)
	case *appsv1.ReplicaSet:
		p.replicaSet(o)
	case *coordinationv1.Lease:
		p.lease(o)
	default:
		p.generic(s)
	}
	if s.Kind != kinds.Events {
		p.events(EventsOf(w, s.Kind, s.Object.GetNamespace(), s.Object.GetName()))
	}
	tw.Flush()
	return lines(b.String())
}

func (p *printer) meta(o kinds.Object) {
	if ns := o.GetNamespace(); ns != "" {
		p.field(0, "Namespace", ns)
	}
	p.pairs("Labels", o.GetLabels(), "=")
	p.pairs("Annotations", o.GetAnnotations(), ": ")
}

func (p *printer) pairs(name string, m map[string]string, sep string) {
	if len(m) == 0 {
		p.field(0, name, "<none>")
	}
	for i, k := range slices.Sorted(maps.Keys(m)) {
		head := name + ":"
		if i > 0 {
			head = ""
		}
		p.put(0, "%s\t%s", head, flat(k+sep+m[k]))
	}
}

func when(t time.Time) string {
	if t.IsZero() {
		return "<unset>"
	}
	return t.UTC().Format(time.RFC1123Z)
}

func (p *printer) pod(o *corev1.Pod) {
	p.field(0, "Namespace", o.Namespace)
	if o.Spec.Priority != nil {
		p.field(0, "Priority", fmt.Sprint(*o.Spec.Priority))
	}
	if o.Spec.PriorityClassName != "" {
		p.field(0, "Priority Class Name", o.Spec.PriorityClassName)
	}
	if o.Spec.ServiceAccountName != "" {
		p.field(0, "Service Account", o.Spec.ServiceAccountName)
	}
	node := o.Spec.NodeName
	if node == "" {
		node = "<none>"
	} else if o.Status.HostIP != "" {
		node += "/" + o.Status.HostIP
	}
	p.field(0, "Node", node)
	if o.Status.StartTime != nil {
		p.field(0, "Start Time", when(o.Status.StartTime.Time))
	}
	p.pairs("Labels", o.Labels, "=")
	p.pairs("Annotations", o.Annotations, ": ")
	if t := o.DeletionTimestamp; t != nil {
		p.field(0, "Status", "Terminating (lasts "+kinds.Age(max(p.now.Sub(t.Time), 0))+")")
		if g := o.DeletionGracePeriodSeconds; g != nil {
			p.field(0, "Termination Grace Period", fmt.Sprintf("%ds", *g))
		}
	} else {
		p.field(0, "Status", string(o.Status.Phase))
	}
	if o.Status.Reason != "" {
		p.field(0, "Reason", o.Status.Reason)
	}
	if o.Status.Message != "" {
		p.field(0, "Message", o.Status.Message)
	}
	p.field(0, "IP", o.Status.PodIP)
	if c := metav1.GetControllerOf(o); c != nil {
		p.field(0, "Controlled By", c.Kind+"/"+c.Name)
	}
	if len(o.Spec.InitContainers) > 0 {
		p.put(0, "Init Containers:")
		p.containers(o.Spec.InitContainers, o.Status.InitContainerStatuses)
	}
	p.put(0, "Containers:")
	p.containers(o.Spec.Containers, o.Status.ContainerStatuses)
	if len(o.Status.Conditions) > 0 {
		p.put(0, "Conditions:")
		p.put(1, "Type\tStatus")
		for _, c := range o.Status.Conditions {
			p.put(1, "%s\t%s", c.Type, c.Status)
		}
	}
	if len(o.Spec.Volumes) > 0 {
		p.put(0, "Volumes:")
		for i := range o.Spec.Volumes {
			p.put(1, "%s", flat(o.Spec.Volumes[i].Name))
		}
	}
	if o.Status.QOSClass != "" {
		p.field(0, "QoS Class", string(o.Status.QOSClass))
	}
	p.pairs("Node-Selectors", o.Spec.NodeSelector, "=")
	for i, t := range o.Spec.Tolerations {
		head := "Tolerations:"
		if i > 0 {
			head = ""
		}
		p.put(0, "%s\t%s", head, flat(Toleration(t)))
	}
}

func (p *printer) containers(all []corev1.Container, have []corev1.ContainerStatus) {
	for i := range all {
		c := &all[i]
		p.put(1, "%s:", flat(c.Name))
		p.field(2, "Image", c.Image)
		for j := range have {
			if s := &have[j]; s.Name == c.Name {
				if s.ContainerID != "" {
					p.field(2, "Container ID", s.ContainerID)
				}
				p.state("State", &s.State)
				if s.LastTerminationState.Terminated != nil {
					p.state("Last State", &s.LastTerminationState)
				}
				ready := "False"
				if s.Ready {
					ready = "True"
				}
				p.field(2, "Ready", ready)
				p.field(2, "Restart Count", fmt.Sprint(s.RestartCount))
			}
		}
		for k, port := range c.Ports {
			head := "Port:"
			if k > 0 {
				head = ""
			}
			p.put(2, "%s\t%d/%s", head, port.ContainerPort, port.Protocol)
		}
		p.resources("Limits", c.Resources.Limits)
		p.resources("Requests", c.Resources.Requests)
		p.probe("Liveness", c.LivenessProbe)
		p.probe("Readiness", c.ReadinessProbe)
		p.probe("Startup", c.StartupProbe)
		for k, e := range c.Env {
			if k == 0 {
				p.put(2, "Environment:")
			}
			p.field(3, e.Name, e.Value)
		}
		for k, m := range c.VolumeMounts {
			if k == 0 {
				p.put(2, "Mounts:")
			}
			p.put(3, "%s from %s", flat(m.MountPath), flat(m.Name))
		}
	}
}

func (p *printer) state(name string, s *corev1.ContainerState) {
	switch {
	case s.Running != nil:
		p.field(2, name, "Running")
		p.field(3, "Started", when(s.Running.StartedAt.Time))
	case s.Waiting != nil:
		p.field(2, name, "Waiting")
		if s.Waiting.Reason != "" {
			p.field(3, "Reason", s.Waiting.Reason)
		}
		if s.Waiting.Message != "" {
			p.field(3, "Message", s.Waiting.Message)
		}
	case s.Terminated != nil:
		t := s.Terminated
		p.field(2, name, "Terminated")
		if t.Reason != "" {
			p.field(3, "Reason", t.Reason)
		}
		p.field(3, "Exit Code", fmt.Sprint(t.ExitCode))
		p.field(3, "Started", when(t.StartedAt.Time))
		p.field(3, "Finished", when(t.FinishedAt.Time))
	default:
		p.field(2, name, "Waiting")
	}
}

func (p *printer) resources(name string, list corev1.ResourceList) {
	for i, k := range slices.Sorted(maps.Keys(list)) {
		if i == 0 {
			p.put(2, "%s:", name)
		}
		q := list[k]
		p.field(3, string(k), q.String())
	}
}

func (p *printer) probe(name string, b *corev1.Probe) {
	if b == nil {
		return
	}
	how := "unknown"
	switch {
	case b.HTTPGet != nil:
		how = fmt.Sprintf("http-get %s:%s%s", strings.ToLower(string(b.HTTPGet.Scheme)), b.HTTPGet.Port.String(), b.HTTPGet.Path)
	case b.TCPSocket != nil:
		how = "tcp-socket :" + b.TCPSocket.Port.String()
	case b.Exec != nil:
		how = "exec " + fmt.Sprint(b.Exec.Command)
	case b.GRPC != nil:
		how = fmt.Sprintf("grpc :%d", b.GRPC.Port)
	}
	p.field(2, name, fmt.Sprintf("%s delay=%ds timeout=%ds period=%ds #success=%d #failure=%d", how, b.InitialDelaySeconds, b.TimeoutSeconds, b.PeriodSeconds, b.SuccessThreshold, b.FailureThreshold))
}

func (p *printer) events(all []Event) {
	if len(all) == 0 {
		p.field(0, "Events", "<none>")
		return
	}
	p.put(0, "Events:")
	p.put(1, "Type\tReason\tAge\tFrom\tMessage")
	p.put(1, "----\t------\t---\t----\t-------")
	for _, e := range all {
		last := kinds.Age(max(p.now.Sub(kinds.EventLast(e.Object)), 0))
		if n := kinds.EventCount(e.Object); n > 1 {
			last = fmt.Sprintf("%s (x%d over %s)", last, n, kinds.Age(max(p.now.Sub(kinds.EventFirst(e.Object)), 0)))
		}
		p.put(1, "%s\t%s\t%s\t%s\t%s", flat(e.Object.Type), flat(e.Object.Reason), last, flat(kinds.EventSource(e.Object)), flat(strings.TrimSpace(e.Object.Message)))
	}
}
