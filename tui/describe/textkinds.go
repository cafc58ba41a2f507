package describe

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
)

func (p *printer) node(w *world.World, n *corev1.Node) {
	p.field(0, "Roles", kinds.NodeRoles(n))
	p.pairs("Labels", n.Labels, "=")
	p.pairs("Annotations", n.Annotations, ": ")
	p.field(0, "CreationTimestamp", when(n.CreationTimestamp.Time))
	list := taints(n)
	if len(list) == 0 {
		list = []string{"<none>"}
	}
	for i, t := range list {
		head := "Taints:"
		if i > 0 {
			head = ""
		}
		p.put(0, "%s\t%s", head, flat(t))
	}
	p.field(0, "Unschedulable", fmt.Sprint(n.Spec.Unschedulable))
	if l, ok := w.NodeLease(n.Name); ok {
		p.put(0, "Lease:")
		p.field(1, "HolderIdentity", l.Holder)
		p.field(1, "RenewTime", when(l.Renewed))
	}
	p.put(0, "Conditions:")
	p.put(1, "Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage")
	p.put(1, "----\t------\t-----------------\t------------------\t------\t-------")
	for _, c := range n.Status.Conditions {
		p.put(1, "%s\t%s\t%s\t%s\t%s\t%s", c.Type, c.Status, when(c.LastHeartbeatTime.Time), when(c.LastTransitionTime.Time), flat(c.Reason), flat(c.Message))
	}
	p.put(0, "Addresses:")
	for _, a := range n.Status.Addresses {
		p.field(1, string(a.Type), a.Address)
	}
	p.amounts("Capacity", n.Status.Capacity)
	p.amounts("Allocatable", n.Status.Allocatable)
	i := n.Status.NodeInfo
	p.put(0, "System Info:")
	for _, f := range [][2]string{{"Kernel Version", i.KernelVersion}, {"OS Image", i.OSImage}, {"Operating System", i.OperatingSystem}, {"Architecture", i.Architecture},
		{"Container Runtime Version", i.ContainerRuntimeVersion}, {"Kubelet Version", i.KubeletVersion}} {
		p.field(1, f[0], f[1])
	}
	p.allocated(w, n)
}

func (p *printer) amounts(name string, list corev1.ResourceList) {
	p.put(0, "%s:", name)
	for _, k := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceEphemeralStorage, corev1.ResourceMemory, corev1.ResourcePods} {
		if q, ok := list[k]; ok {
			p.field(1, string(k), q.String())
		}
	}
}

// allocated lists the pods of a node that have not ended, and the sums of what they ask for.
func (p *printer) allocated(w *world.World, n *corev1.Node) {
	cpu, mem := n.Status.Allocatable.Cpu().MilliValue(), n.Status.Allocatable.Memory().Value()
	type line struct{ ns, name, cpu, mem, age string }
	var all []line
	var sumCPU, sumMem, limCPU, limMem int64
	left := 0
	w.PodsOnNode(n.Name, func(pod *world.Pod) bool {
		if pod.Ended {
			return true
		}
		if len(all) >= podsMost {
			left++
			return true
		}
		var c, m int64
		for i := range pod.Object.Spec.Containers {
			r := &pod.Object.Spec.Containers[i].Resources
			c += r.Requests.Cpu().MilliValue()
			m += r.Requests.Memory().Value()
			limCPU += r.Limits.Cpu().MilliValue()
			limMem += r.Limits.Memory().Value()
		}
		all = append(all, line{pod.Object.Namespace, pod.Object.Name, share(fmt.Sprintf("%dm", c), c, cpu), share(bytes(m), m, mem), kinds.Age(max(p.now.Sub(pod.Object.CreationTimestamp.Time), 0))})
		return true
	})
	if info, ok := w.Nodes.Get(n.Name); ok {
		sumCPU, sumMem = info.MilliCPU, info.Memory
	}
	p.put(0, "Non-terminated Pods:\t(%d in total)", len(all)+left)
	p.put(1, "Namespace\tName\tCPU Requests\tMemory Requests\tAge")
	p.put(1, "---------\t----\t------------\t---------------\t---")
	for _, l := range all {
		p.put(1, "%s\t%s\t%s\t%s\t%s", flat(l.ns), flat(l.name), l.cpu, l.mem, l.age)
	}
	if left > 0 {
		p.put(1, "… %d more", left)
	}
	p.put(0, "Allocated resources:")
	p.put(1, "(Total limits may be over 100 percent, i.e., overcommitted.)")
	p.put(1, "Resource\tRequests\tLimits")
	p.put(1, "--------\t--------\t------")
	p.put(1, "cpu\t%s\t%s", share(fmt.Sprintf("%dm", sumCPU), sumCPU, cpu), share(fmt.Sprintf("%dm", limCPU), limCPU, cpu))
	p.put(1, "memory\t%s\t%s", share(bytes(sumMem), sumMem, mem), share(bytes(limMem), limMem, mem))
}

func share(text string, part, whole int64) string {
	if whole <= 0 {
		return text
	}
	return text + " (" + percent(part, whole) + ")"
}

func (p *printer) deployment(w *world.World, d *appsv1.Deployment) {
	p.field(0, "Namespace", d.Namespace)
	p.field(0, "CreationTimestamp", when(d.CreationTimestamp.Time))
	p.pairs("Labels", d.Labels, "=")
	p.pairs("Annotations", d.Annotations, ": ")
	p.field(0, "Selector", metav1.FormatLabelSelector(d.Spec.Selector))
	r := world.RolloutOf(d)
	p.field(0, "Replicas", fmt.Sprintf("%d desired | %d updated | %d total | %d available | %d unavailable", r.Desired, r.Updated, r.Current, r.Available, r.Unavailable))
	p.field(0, "StrategyType", string(d.Spec.Strategy.Type))
	p.field(0, "MinReadySeconds", fmt.Sprint(d.Spec.MinReadySeconds))
	if s := d.Spec.Strategy.RollingUpdate; s != nil {
		p.field(0, "RollingUpdateStrategy", fmt.Sprintf("%s max unavailable, %s max surge", quantity(s.MaxUnavailable), quantity(s.MaxSurge)))
	}
	p.template(&d.Spec.Template)
	if len(d.Status.Conditions) > 0 {
		p.put(0, "Conditions:")
		p.put(1, "Type\tStatus\tReason")
		p.put(1, "----\t------\t------")
		for _, c := range d.Status.Conditions {
			p.put(1, "%s\t%s\t%s", c.Type, c.Status, flat(c.Reason))
		}
	}
	older, now := "<none>", "<none>"
	var old []string
	prefix := world.ObjectKey(kinds.ReplicaSets, d.Namespace, d.Name+"-")
	seen := 0
	w.Objects.Ascend(prefix, func(key string, o *world.Object) bool {
		if seen++; !strings.HasPrefix(key, prefix) || seen > 200 {
			return false
		}
		rs, ok := o.Object.(*appsv1.ReplicaSet)
		if !ok || !metav1.IsControlledBy(rs, d) {
			return true
		}
		text := fmt.Sprintf("%s (%d/%d replicas created)", rs.Name, rs.Status.Replicas, kinds.Desired(rs.Spec.Replicas))
		if rs.Annotations["deployment.kubernetes.io/revision"] == d.Annotations["deployment.kubernetes.io/revision"] {
			now = text
		} else {
			old = append(old, text)
		}
		return true
	})
	if len(old) > 0 {
		older = strings.Join(old, ", ")
	}
	p.field(0, "OldReplicaSets", older)
	p.field(0, "NewReplicaSet", now)
}

func (p *printer) template(t *corev1.PodTemplateSpec) {
	p.put(0, "Pod Template:")
	p.field(1, "Labels", labels.FormatLabels(t.Labels))
	p.put(1, "Containers:")
	p.containers(t.Spec.Containers, nil)
}

func (p *printer) replicaSet(r *appsv1.ReplicaSet) {
	p.field(0, "Namespace", r.Namespace)
	p.field(0, "Selector", metav1.FormatLabelSelector(r.Spec.Selector))
	p.pairs("Labels", r.Labels, "=")
	p.pairs("Annotations", r.Annotations, ": ")
	if c := metav1.GetControllerOf(r); c != nil {
		p.field(0, "Controlled By", c.Kind+"/"+c.Name)
	}
	p.field(0, "Replicas", fmt.Sprintf("%d current / %d desired", r.Status.Replicas, kinds.Desired(r.Spec.Replicas)))
	p.template(&r.Spec.Template)
}

func (p *printer) lease(l *coordinationv1.Lease) {
	p.meta(l)
	p.put(0, "Spec:")
	if h := l.Spec.HolderIdentity; h != nil {
		p.field(1, "Holder Identity", *h)
	}
	if d := l.Spec.LeaseDurationSeconds; d != nil {
		p.field(1, "Lease Duration Seconds", fmt.Sprint(*d))
	}
	if n := l.Spec.LeaseTransitions; n != nil {
		p.field(1, "Lease Transitions", fmt.Sprint(*n))
	}
	for _, t := range []struct {
		name string
		at   *metav1.MicroTime
	}{{"Acquire Time", l.Spec.AcquireTime}, {"Renew Time", l.Spec.RenewTime}} {
		if t.at != nil {
			p.field(1, t.name, t.at.UTC().Format(time.RFC3339Nano))
		}
	}
}

// generic prints the metadata, then the rest of the object as it is.
func (p *printer) generic(s Subject) {
	p.meta(s.Object)
	p.field(0, "API Version", s.Kind.APIVersion())
	p.field(0, "Kind", s.Kind.Kind)
	p.field(0, "Created", when(s.Object.GetCreationTimestamp().Time))
	o := s.Object.DeepCopyObject().(kinds.Object)
	o.SetManagedFields(nil)
	data, err := yaml.Marshal(o)
	if err != nil {
		return
	}
	skip := false
	for _, line := range lines(string(data)) {
		if !strings.HasPrefix(line, " ") {
			skip = strings.HasPrefix(line, "metadata:") || strings.HasPrefix(line, "apiVersion:") || strings.HasPrefix(line, "kind:")
		}
		if !skip {
			p.put(0, "%s", strings.ReplaceAll(line, "\t", " "))
		}
	}
}
