package nodelifecycle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/controller/nodelifecycle"
	"example.com/kubeviz/components/controller/podgc"
	"example.com/kubeviz/components/controller/tainteviction"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// rig is a cluster with the node controllers and stand-ins for kubelets.
type rig struct {
	t        *testing.T
	c        *apitest.Cluster
	kubelets map[string]*kubelet
	silenced map[string]event.Seq
	leaders  int
	manager  *kubeapi.Process
	zero     time.Time // what seconds in expectations count from
	mark     event.Seq // records up to here are history
}

// newRig starts masters m1 … and workers w1 …, lets them settle for a minute, then counts from zero.
func newRig(t *testing.T, masters, workers int) *rig {
	r := &rig{t: t, c: apitest.New(t), kubelets: map[string]*kubelet{}, silenced: map[string]event.Seq{}}
	for i := range masters {
		r.join(fmt.Sprintf("m%d", i+1))
	}
	for i := range workers {
		r.join(fmt.Sprintf("w%d", i+1))
	}
	r.lead()
	r.run(time.Minute)
	r.now()
	return r
}

// now makes this instant the zero of further expectations.
func (r *rig) now() { r.zero, r.mark = r.c.Loop.Now(), r.c.Journal.Last() }

func (r *rig) run(d time.Duration) { r.c.Run(d) }

// lead starts a new controller manager with the three controllers, as one that has just won its lease.
func (r *rig) lead() {
	if r.manager != nil {
		r.manager.Group.Kill()
	}
	r.leaders++
	pr := r.c.Process("manager", fmt.Sprintf("controller-manager-%d", r.leaders), kubeapi.User{Name: "system:kube-controller-manager", Groups: []string{"system:authenticated"}})
	pr.Silenced = func(host string) event.Seq { return r.silenced[host] }
	r.manager = pr
	in := informers.New(pr)
	nodes := pr.As(apitest.Controller("node-controller"))
	lifecycle, eviction, gc := nodelifecycle.New(nodes, in), tainteviction.New(nodes, in), podgc.New(pr.As(apitest.Controller("pod-garbage-collector")), in)
	in.Start()
	pr.Go("lead", func(p *sim.Proc) {
		in.WaitSynced(p)
		lifecycle.Start()
		eviction.Start()
		gc.Start()
	})
}

// do runs fn as an administrator and waits for it.
func (r *rig) do(fn func(p *sim.Proc, c *kubeapi.Client) error) {
	r.t.Helper()
	var err error
	done := false
	pr := r.c.Process("manager", "kubectl", kubeapi.User{Name: "kubernetes-admin", Groups: []string{"system:masters", "system:authenticated"}})
	pr.Go("command", func(p *sim.Proc) { err = fn(p, pr.Client); done = true })
	for range 100 {
		if done {
			break
		}
		r.run(10 * time.Millisecond)
	}
	if err != nil || !done {
		r.t.Fatalf("command: done %v, error %v", done, err)
	}
}

// kubelet stands in for the real one: it registers its node, renews the lease, posts its status when told, and confirms deletions while it lives.
type kubelet struct {
	r     *rig
	name  string
	proc  *kubeapi.Process
	ready corev1.ConditionStatus
}

func (r *rig) join(name string) *kubelet {
	k := &kubelet{r: r, name: name, ready: corev1.ConditionTrue}
	r.kubelets[name] = k
	k.start()
	return k
}

// start powers the machine on.
func (k *kubelet) start() {
	delete(k.r.silenced, k.name)
	k.proc = k.r.c.Process(k.name, "kubelet", kubeapi.User{Name: "system:node:" + k.name, Groups: []string{"system:nodes", "system:authenticated"}})
	pods := kubeapi.NewInformer[*corev1.Pod](k.proc, kinds.Pods, kubeapi.InformerOptions{Fields: onNode(k.name)})
	var leaving sim.Queue[*corev1.Pod]
	pods.Handle(func(ch kubeapi.Change[*corev1.Pod]) {
		if ch.Type != event.Deleted && ch.New.DeletionTimestamp != nil {
			leaving.Put(ch.New)
		}
	})
	k.proc.Go("run", func(p *sim.Proc) {
		k.register(p)
		pods.Start()
		k.post(p)
		for {
			k.renew(p)
			p.Sleep(10 * time.Second)
		}
	})
	k.proc.Go("stop pods", func(p *sim.Proc) {
		for {
			pod, _ := leaving.Get(p)
			kubeapi.Remove(p, k.proc.Client, kinds.Pods, pod.Namespace, pod.Name, metav1.NewDeleteOptions(0))
		}
	})
}

// kill powers the machine off; the record is the user's command.
func (k *kubelet) kill() event.Seq {
	cmd := k.r.c.Journal.Emit(event.You, 0, event.CommandGiven{Text: "kill " + k.name})
	down := k.r.c.Journal.Emit(event.Engine, cmd, event.MachineDown{Host: k.name, Reason: "killed"})
	k.r.silenced[k.name] = down
	k.proc.Group.Kill()
	return cmd
}

func (k *kubelet) register(p *sim.Proc) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.name, Labels: map[string]string{corev1.LabelHostname: k.name}}}
	if k.name[0] == 'm' {
		n.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	}
	n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("110")}
	n.Status.Allocatable = n.Status.Capacity
	kubeapi.Make(p, k.proc.Client, n) // exists after a return
}

var healthy = []corev1.NodeCondition{
	{Type: corev1.NodeMemoryPressure, Status: "False", Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
	{Type: corev1.NodeDiskPressure, Status: "False", Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
	{Type: corev1.NodePIDPressure, Status: "False", Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
	{Type: corev1.NodeReady, Status: "True", Reason: "KubeletReady", Message: "kubelet is posting ready status"},
}

// post writes the node's status.
func (k *kubelet) post(p *sim.Proc) {
	node, err := kubeapi.Fetch[*corev1.Node](p, k.proc.Client, kinds.Nodes, "", k.name)
	if err != nil {
		k.r.t.Errorf("kubelet %s: %v", k.name, err)
		return
	}
	next := node.DeepCopy()
	for _, c := range healthy {
		c.LastHeartbeatTime = metav1.NewTime(p.Now().Truncate(time.Second))
		if c.Type == corev1.NodeReady && k.ready == corev1.ConditionFalse {
			c.Status, c.Reason, c.Message = k.ready, "KubeletNotReady", "container runtime is down"
		}
		i := slices.IndexFunc(next.Status.Conditions, func(old corev1.NodeCondition) bool { return old.Type == c.Type })
		if i < 0 {
			c.LastTransitionTime = c.LastHeartbeatTime
			next.Status.Conditions = append(next.Status.Conditions, c)
			continue
		}
		if c.LastTransitionTime = next.Status.Conditions[i].LastTransitionTime; next.Status.Conditions[i].Status != c.Status {
			c.LastTransitionTime = c.LastHeartbeatTime
		}
		next.Status.Conditions[i] = c
	}
	if _, err := kubeapi.PatchFrom(p, k.proc.Client, "status", node, next); err != nil {
		k.r.t.Errorf("kubelet %s posts its status: %v", k.name, err)
	}
}

// renew renews the lease, or makes it.
func (k *kubelet) renew(p *sim.Proc) {
	holder, seconds, now := k.name, int32(40), metav1.NewMicroTime(p.Now())
	lease, err := kubeapi.Fetch[*coordinationv1.Lease](p, k.proc.Client, kinds.Leases, corev1.NamespaceNodeLease, k.name)
	spec := coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now}
	if err != nil {
		_, err = kubeapi.Make(p, k.proc.Client, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: k.name}, Spec: spec})
	} else {
		next := lease.DeepCopy()
		next.Spec = spec
		_, err = kubeapi.Replace(p, k.proc.Client, next)
	}
	if err != nil {
		k.r.t.Errorf("kubelet %s renews its lease: %v", k.name, err)
	}
}

// pod makes a pod that runs on a node; no tolerations means the defaults of five minutes.
func (r *rig) pod(name, node string, tolerations ...corev1.Toleration) {
	r.t.Helper()
	r.do(func(p *sim.Proc, c *kubeapi.Client) error {
		pod, err := kubeapi.Make(p, c, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: corev1.PodSpec{NodeName: node, Tolerations: tolerations, Containers: []corev1.Container{{Name: "app", Image: "nginx:1.27"}}}})
		if err != nil {
			return err
		}
		next := pod.DeepCopy()
		next.Status.Phase = corev1.PodRunning
		for _, t := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
			next.Status.Conditions = append(next.Status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue})
		}
		_, err = kubeapi.ReplaceStatus(p, c, next)
		return err
	})
}

// line is one change of an object since zero, in words.
type line struct {
	at   time.Duration
	text string
	rec  event.Record
}

// story tells what changed since zero about the objects whose line contains any of about (all when empty).
func (r *rig) story(about ...string) []line {
	recs, _ := r.c.Journal.Read(nil, r.mark+1, 1<<20)
	last := map[string]string{}
	var out []line
	for _, rec := range recs {
		e, ok := rec.Event.(event.ObjectChanged)
		if !ok {
			continue
		}
		text := words(e)
		if text == "" || (len(about) > 0 && !slices.ContainsFunc(about, func(a string) bool { return strings.Contains(text, a) })) {
			continue
		}
		key := string(e.Object.GetUID())
		if last[key] == text { // a change we have no word for
			continue
		}
		last[key] = text
		out = append(out, line{rec.At.Sub(r.zero), text, rec})
	}
	return out
}

func words(e event.ObjectChanged) string {
	switch o := e.Object.(type) {
	case *corev1.Node:
		ready, taints := "none", []string{}
		for _, c := range o.Status.Conditions {
			if c.Type == corev1.NodeReady {
				ready = fmt.Sprintf("%s %s", c.Status, c.Reason)
			}
		}
		for _, t := range o.Spec.Taints {
			if strings.HasPrefix(t.Key, "node.kubernetes.io/") {
				taints = append(taints, strings.TrimPrefix(t.Key, "node.kubernetes.io/")+":"+string(t.Effect))
			}
		}
		if e.Type == event.Deleted {
			return "node " + o.Name + " deleted"
		}
		return fmt.Sprintf("node %s Ready=%s taints %v", o.Name, ready, taints)
	case *corev1.Pod:
		s := fmt.Sprintf("pod %s %s", o.Name, o.Status.Phase)
		for _, c := range o.Status.Conditions {
			switch c.Type {
			case corev1.PodReady:
				s += fmt.Sprintf(" Ready=%s", c.Status)
			case corev1.DisruptionTarget:
				s += fmt.Sprintf(" DisruptionTarget=%s %s: %s", c.Status, c.Reason, c.Message)
			}
		}
		if o.DeletionTimestamp != nil {
			s += fmt.Sprintf(" deleting grace %d", *o.DeletionGracePeriodSeconds)
		}
		if e.Type == event.Deleted {
			s += " gone"
		}
		return s
	case *corev1.Event:
		return fmt.Sprintf("event %s/%s %s %s %q %s", o.InvolvedObject.Kind, o.InvolvedObject.Name, o.Type, o.Reason, o.Message, o.Source.Component)
	}
	return ""
}

// find is the first line with exactly that text; a failure when there is none.
func (r *rig) find(text string) line {
	r.t.Helper()
	all := r.story()
	for _, l := range all {
		if l.text == text {
			return l
		}
	}
	r.t.Fatalf("there is no %q in:\n%s", text, show(all))
	return line{}
}

// within checks when a line came.
func (r *rig) within(from, to time.Duration, text string) line {
	r.t.Helper()
	l := r.find(text)
	if l.at < from || l.at > to {
		r.t.Errorf("%q came at %.3f s, want %v … %v", text, l.at.Seconds(), from, to)
	}
	return l
}

// never checks that no line contains the text.
func (r *rig) never(text string) {
	r.t.Helper()
	for _, l := range r.story() {
		if strings.Contains(l.text, text) {
			r.t.Errorf("at %.3f s: %s", l.at.Seconds(), l.text)
		}
	}
}

func show(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%9.3f  %s\n", l.at.Seconds(), l.text)
	}
	return b.String()
}

// follows checks that walking causes from a record leads to root.
func (r *rig) follows(l line, root event.Seq) {
	r.t.Helper()
	var path []string
	for seq := l.rec.Seq; seq != 0; {
		rec, ok := r.c.Journal.Get(seq)
		if !ok {
			break
		}
		path = append(path, fmt.Sprintf("%d %s %+v", seq, rec.Actor, rec.Event.Name()))
		if seq == root {
			return
		}
		seq = rec.Cause
	}
	r.t.Errorf("%q does not follow from record %d but from:\n%s", l.text, root, strings.Join(path, "\n"))
}

// noExecuteTaints tells when each node got its NoExecute taint for being unreachable, in order.
func (r *rig) noExecuteTaints() (names []string, at []time.Duration) {
	got := map[string]time.Duration{}
	for _, l := range r.story("node ") {
		n, ok := l.rec.Event.(event.ObjectChanged).Object.(*corev1.Node)
		if !ok {
			continue
		}
		for _, t := range n.Spec.Taints {
			if _, had := got[n.Name]; !had && t.Key == corev1.TaintNodeUnreachable && t.Effect == corev1.TaintEffectNoExecute {
				got[n.Name] = l.at
			}
		}
	}
	names = slices.SortedFunc(maps.Keys(got), func(a, b string) int { return int(got[a] - got[b]) })
	for _, n := range names {
		at = append(at, got[n])
	}
	return names, at
}
