package describe

import (
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// Subject is a thing with the object of the API that stands for it, where there is one.
type Subject struct {
	Target target.Target
	Kind   *kinds.Kind
	// Object as it is, or as it was last when it is Gone. nil: there is none, or nothing is known of it.
	Object kinds.Object
	// Seq is the record of the object's last change.
	Seq event.Seq
	// Gone: the object was deleted, at GoneAt by GoneBy (empty: nobody knows).
	Gone   bool
	GoneAt time.Time
	GoneBy string
}

// lookBack bounds how many records about a thing are looked through for its last state.
const lookBack = 4000

// SubjectOf finds the object of a thing: a machine's is its Node.
func SubjectOf(f view.Frame, t target.Target) Subject {
	s := Subject{Target: t}
	var namespace, name string
	switch t.Kind {
	case target.Pod:
		s.Kind, namespace, name = kinds.Pods, t.Namespace, t.Name
	case target.Object:
		k, ok := kinds.Named(t.Type)
		if !ok {
			return s
		}
		s.Kind, namespace, name = k, t.Namespace, t.Name
	case target.Worker, target.Master:
		s.Kind, name = kinds.Nodes, t.Host
	default:
		return s
	}
	if o, ok := f.World.Objects.Get(world.ObjectKey(s.Kind, namespace, name)); ok {
		s.Object, s.Seq = o.Object, o.Seq
		if l, ok := s.Object.(*coordinationv1.Lease); ok {
			s.renewed(f, l)
		}
		return s
	}
	all := f.About(target.ForObject(s.Kind, namespace, name))
	for i := len(all) - 1; i >= 0 && i >= len(all)-lookBack; i-- {
		r, ok := f.Record(all[i])
		if !ok {
			break
		}
		if e, ok := r.Event.(event.ObjectChanged); ok && e.Object != nil {
			s.Object, s.Seq = e.Object, r.Seq
			s.Gone, s.GoneAt, s.GoneBy = true, r.At, Who(f, r)
			break
		}
	}
	return s
}

// renewed brings a Lease up to its last renewal, of which the journal keeps only who and when.
func (s *Subject) renewed(f view.Frame, l *coordinationv1.Lease) {
	last, ok := f.World.Leases.Get(kinds.ObjectRef{Namespace: l.Namespace, Name: l.Name}.String())
	if !ok || last.Seq <= s.Seq {
		return
	}
	l = l.DeepCopy()
	at := metav1.NewMicroTime(last.Renewed)
	l.Spec.RenewTime = &at
	if r, ok := f.Record(last.Seq); ok {
		if e, is := r.Event.(event.LeaseRenewed); is && e.Revision > 0 {
			l.ResourceVersion = strconv.FormatInt(e.Revision, 10)
		}
	}
	s.Object, s.Seq = l, last.Seq
}

// Who stands behind a change, as far as its causes tell in three steps: "you", a controller, a kubelet, a user of the API.
func Who(f view.Frame, r event.Record) string {
	who := ""
	if e, ok := r.Event.(event.RequestDone); ok {
		who = userName(e.User)
	}
	if c, ok := f.Outside(&r); ok {
		return c.Client.Component()
	}
	for range 3 {
		c, ok := f.Record(r.Cause)
		if !ok {
			break
		}
		switch e := c.Event.(type) {
		case event.RequestReceived:
			if c, ok := f.Outside(&c); ok {
				return c.Client.Component()
			}
			if who = userName(e.User); who != controllerManager {
				return who
			}
		case event.Reconciled:
			return strings.ReplaceAll(strings.TrimSuffix(e.Controller, "_controller"), "_", "-")
		case event.CommandGiven:
			return string(event.You)
		default:
			if who == "" {
				who = string(c.Actor)
			}
			return who
		}
		r = c
	}
	if who == "" && r.Actor != "etcd" {
		who = string(r.Actor)
	}
	return who
}

const controllerManager = "controller-manager"

// userName shortens a user of the API to the component it is.
func userName(user string) string {
	switch {
	case user == "kubernetes-admin":
		return string(event.You)
	case user == "system:kube-controller-manager":
		return controllerManager
	case user == "system:kube-scheduler":
		return "scheduler"
	case user == "system:apiserver":
		return "apiserver"
	}
	if node, ok := strings.CutPrefix(user, "system:node:"); ok {
		return "kubelet/" + node
	}
	if i := strings.LastIndexByte(user, ':'); i >= 0 && strings.HasPrefix(user, "system:serviceaccount:") {
		return user[i+1:]
	}
	return user
}

// home is the machine of a node's name.
func home(f view.Frame, node string) target.Target {
	if _, ok := f.World.Hosts.Get(node); ok {
		return scene.MachineTarget(f.World, node)
	}
	return target.ForObject(kinds.Nodes, "", node)
}

func podTarget(p *corev1.Pod) target.Target {
	return target.Target{Kind: target.Pod, Host: p.Spec.NodeName, Namespace: p.Namespace, Name: p.Name}
}
