package kinds

import (
	"cmp"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Column of the table that kubectl get prints of a kind (fidelity 11).
type Column struct {
	// Name is the header, in capital letters.
	Name string
	// Wide: only -o wide shows it.
	Wide bool
	// Cell is what is printed of an object at an instant; Rank is what the column sorts by. Both are empty for an object of another type.
	Cell func(o Object, now time.Time) string
	Rank func(o Object) Rank
}

// Rank is the place of a cell in the order of its column: by Number, then by Text.
type Rank struct {
	Number float64
	Text   string
}

// Columns of a kind, in kubectl's order, wide ones included. A kind without columns of its own has NAME and AGE.
func Columns(k *Kind) []Column {
	if c, ok := columns[k]; ok {
		return c
	}
	return plainColumns
}

var plainColumns = []Column{nameColumn, ageColumn}

var columns = map[*Kind][]Column{
	Pods: {
		nameColumn,
		column("READY", func(p *corev1.Pod, _ time.Time) string {
			c := ColumnsOf(p)
			return strconv.Itoa(c.Ready) + "/" + strconv.Itoa(c.Total)
		}, func(p *corev1.Pod) Rank {
			c := ColumnsOf(p)
			return Rank{Number: float64(c.Ready) - float64(c.Total)/1e6}
		}),
		text("STATUS", PodStatus),
		column("RESTARTS", podRestarts, func(p *corev1.Pod) Rank { return Rank{Number: float64(ColumnsOf(p).Restarts)} }),
		ageColumn,
		wide(text("IP", func(p *corev1.Pod) string { return none(p.Status.PodIP) })),
		wide(text("NODE", func(p *corev1.Pod) string { return none(p.Spec.NodeName) })),
		wide(text("NOMINATED NODE", func(p *corev1.Pod) string { return none(p.Status.NominatedNodeName) })),
		wide(text("READINESS GATES", readinessGates)),
	},
	Nodes: {
		nameColumn,
		text("STATUS", NodeStatus),
		text("ROLES", NodeRoles),
		ageColumn,
		text("VERSION", func(n *corev1.Node) string { return n.Status.NodeInfo.KubeletVersion }),
		wide(text("INTERNAL-IP", func(n *corev1.Node) string { return address(n, corev1.NodeInternalIP) })),
		wide(text("EXTERNAL-IP", func(n *corev1.Node) string { return address(n, corev1.NodeExternalIP) })),
		wide(text("OS-IMAGE", func(n *corev1.Node) string { return unknown(n.Status.NodeInfo.OSImage) })),
		wide(text("KERNEL-VERSION", kernel)),
		wide(text("CONTAINER-RUNTIME", func(n *corev1.Node) string { return unknown(n.Status.NodeInfo.ContainerRuntimeVersion) })),
	},
	Deployments: {
		nameColumn,
		column("READY", func(d *appsv1.Deployment, _ time.Time) string {
			return strconv.Itoa(int(d.Status.ReadyReplicas)) + "/" + strconv.Itoa(Desired(d.Spec.Replicas))
		}, func(d *appsv1.Deployment) Rank {
			return Rank{Number: float64(d.Status.ReadyReplicas) - float64(Desired(d.Spec.Replicas))/1e6}
		}),
		number("UP-TO-DATE", func(d *appsv1.Deployment) int { return int(d.Status.UpdatedReplicas) }),
		number("AVAILABLE", func(d *appsv1.Deployment) int { return int(d.Status.AvailableReplicas) }),
		ageColumn,
		wide(text("CONTAINERS", func(d *appsv1.Deployment) string { return containerNames(&d.Spec.Template.Spec) })),
		wide(text("IMAGES", func(d *appsv1.Deployment) string { return containerImages(&d.Spec.Template.Spec) })),
		wide(text("SELECTOR", func(d *appsv1.Deployment) string { return metav1.FormatLabelSelector(d.Spec.Selector) })),
	},
	ReplicaSets: {
		nameColumn,
		number("DESIRED", func(r *appsv1.ReplicaSet) int { return Desired(r.Spec.Replicas) }),
		number("CURRENT", func(r *appsv1.ReplicaSet) int { return int(r.Status.Replicas) }),
		number("READY", func(r *appsv1.ReplicaSet) int { return int(r.Status.ReadyReplicas) }),
		ageColumn,
		wide(text("CONTAINERS", func(r *appsv1.ReplicaSet) string { return containerNames(&r.Spec.Template.Spec) })),
		wide(text("IMAGES", func(r *appsv1.ReplicaSet) string { return containerImages(&r.Spec.Template.Spec) })),
		wide(text("SELECTOR", func(r *appsv1.ReplicaSet) string { return metav1.FormatLabelSelector(r.Spec.Selector) })),
	},
	Leases: {
		nameColumn,
		text("HOLDER", func(l *coordinationv1.Lease) string {
			if l.Spec.HolderIdentity == nil {
				return ""
			}
			return *l.Spec.HolderIdentity
		}),
		ageColumn,
	},
	Namespaces: {
		nameColumn,
		text("STATUS", func(n *corev1.Namespace) string { return string(n.Status.Phase) }),
		ageColumn,
	},
	Events: {
		column("LAST SEEN", func(e *corev1.Event, now time.Time) string { return age(EventLast(e), now) }, func(e *corev1.Event) Rank { return newest(EventLast(e)) }),
		text("TYPE", func(e *corev1.Event) string { return e.Type }),
		text("REASON", func(e *corev1.Event) string { return e.Reason }),
		text("OBJECT", func(e *corev1.Event) string {
			if e.InvolvedObject.Name == "" {
				return strings.ToLower(e.InvolvedObject.Kind)
			}
			return strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
		}),
		wide(text("SUBOBJECT", func(e *corev1.Event) string { return e.InvolvedObject.FieldPath })),
		wide(text("SOURCE", EventSource)),
		text("MESSAGE", func(e *corev1.Event) string { return strings.TrimSpace(e.Message) }),
		wide(column("FIRST SEEN", func(e *corev1.Event, now time.Time) string { return age(EventFirst(e), now) }, func(e *corev1.Event) Rank { return newest(EventFirst(e)) })),
		wide(number("COUNT", EventCount)),
		wide(nameColumn),
	},
}

// column makes a column of a Go type.
func column[T Object](name string, cell func(T, time.Time) string, rank func(T) Rank) Column {
	return Column{
		Name: name,
		Cell: func(o Object, now time.Time) string {
			if t, ok := o.(T); ok {
				return cell(t, now)
			}
			return ""
		},
		Rank: func(o Object) Rank {
			if t, ok := o.(T); ok {
				return rank(t)
			}
			return Rank{}
		},
	}
}

// text is a column that sorts by what it shows.
func text[T Object](name string, cell func(T) string) Column {
	return column(name, func(o T, _ time.Time) string { return cell(o) }, func(o T) Rank { return Rank{Text: cell(o)} })
}

// number is a column of whole numbers.
func number[T Object](name string, cell func(T) int) Column {
	return column(name, func(o T, _ time.Time) string { return strconv.Itoa(cell(o)) }, func(o T) Rank { return Rank{Number: float64(cell(o))} })
}

func wide(c Column) Column {
	c.Wide = true
	return c
}

var nameColumn = Column{
	Name: "NAME",
	Cell: func(o Object, _ time.Time) string { return o.GetName() },
	Rank: func(o Object) Rank { return Rank{Text: o.GetName()} },
}

var ageColumn = Column{
	Name: "AGE",
	Cell: func(o Object, now time.Time) string { return age(o.GetCreationTimestamp().Time, now) },
	Rank: func(o Object) Rank { return newest(o.GetCreationTimestamp().Time) },
}

func age(t, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return Age(max(now.Sub(t), 0))
}

// newest ranks the youngest first, as a small age is a small number.
func newest(t time.Time) Rank { return Rank{Number: -float64(t.UnixMilli())} }

func none(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

func unknown(s string) string {
	if s == "" {
		return "<unknown>"
	}
	return s
}

// Desired is how many replicas a workload asks for; one where it does not say.
func Desired(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

func podRestarts(p *corev1.Pod, now time.Time) string {
	c := ColumnsOf(p)
	if c.Restarts > 0 && !c.LastRestart.IsZero() {
		return fmt.Sprintf("%d (%s ago)", c.Restarts, age(c.LastRestart, now))
	}
	return strconv.Itoa(c.Restarts)
}

func readinessGates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	have := 0
	for _, g := range p.Spec.ReadinessGates {
		if podCondition(p, g.ConditionType) {
			have++
		}
	}
	return strconv.Itoa(have) + "/" + strconv.Itoa(len(p.Spec.ReadinessGates))
}

func address(n *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return "<none>"
}

func kernel(n *corev1.Node) string {
	i := n.Status.NodeInfo
	if i.KernelVersion == "" {
		return "<unknown>"
	}
	if i.Architecture == "" {
		return i.KernelVersion
	}
	return i.KernelVersion + " (" + i.Architecture + ")"
}

func containerNames(s *corev1.PodSpec) string {
	names := make([]string, len(s.Containers))
	for i := range s.Containers {
		names[i] = s.Containers[i].Name
	}
	return strings.Join(names, ",")
}

func containerImages(s *corev1.PodSpec) string {
	images := make([]string, len(s.Containers))
	for i := range s.Containers {
		images[i] = s.Containers[i].Image
	}
	return strings.Join(images, ",")
}

// EventLast is when an Event was last seen.
func EventLast(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return EventFirst(e)
}

// EventFirst is when an Event was first seen.
func EventFirst(e *corev1.Event) time.Time {
	switch {
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}

// EventCount is how often an Event happened, at least once.
func EventCount(e *corev1.Event) int {
	n := int(e.Count)
	if e.Series != nil {
		n = max(n, int(e.Series.Count))
	}
	return max(n, 1)
}

// EventSource is the component that an Event comes from, with its machine where it has one.
func EventSource(e *corev1.Event) string {
	s, host := cmp.Or(e.Source.Component, e.ReportingController), cmp.Or(e.Source.Host, e.ReportingInstance)
	if host == "" || s == host {
		return s
	}
	return s + ", " + host
}

// FormatLabels writes labels as kubectl does: "a=1,b=2", sorted.
func FormatLabels(labels map[string]string) string {
	if len(labels) == 0 {
		return "<none>"
	}
	out := make([]string, 0, len(labels))
	for k, v := range labels {
		out = append(out, k+"="+v)
	}
	sort.Strings(out)
	return strings.Join(out, ",")
}
