package keymap

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// all gives the first reason against.
func all(conditions ...func(view.Frame) string) func(view.Frame) string {
	return func(f view.Frame) string {
		for _, c := range conditions {
			if why := c(f); why != "" {
				return why
			}
		}
		return ""
	}
}

func live(f view.Frame) string {
	switch {
	case f.Recording:
		return "not.recording"
	case !f.Live:
		return "not.past"
	}
	return ""
}

func selected(f view.Frame) string {
	if nothing(f) {
		return "not.nothing-selected"
	}
	return ""
}

// Machine is the machine, and the process on it where one is meant, that a thing stands for: itself, the machine of a Node, the process of a queue.
func Machine(t target.Target) (host, process string, ok bool) {
	switch t.Kind {
	case target.Master, target.Worker:
		return t.Host, "", true
	case target.Process, target.Queue:
		return t.Host, t.Process, true
	case target.Object:
		return t.Name, "", t.Type == "nodes"
	}
	return "", "", false
}

func powerable(f view.Frame) string {
	if f.Selected.Kind != scene.Pod {
		return onMachineOrProcess(f)
	}
	if p, ok := f.World.Pods.Get(f.Selected.Namespace + "/" + f.Selected.Name); !ok || p.Object.Spec.NodeName == "" {
		return "not.pod-has-no-node"
	}
	return ""
}

func restartable(f view.Frame) string {
	if why := onMachineOrProcess(f); why != "" {
		return why
	}
	if Down(f) {
		return "not.down-already"
	}
	return ""
}

func onMachineOrProcess(f view.Frame) string {
	if _, _, ok := Machine(f.Selected); ok {
		return ""
	}
	return notMachine(f)
}

// notMachine is why what is selected cannot be switched off or cut.
func notMachine(f view.Frame) string {
	switch f.Selected.Kind {
	case scene.Nothing:
		return "not.nothing-selected"
	case scene.Pod:
		return "not.for-pods"
	}
	return "not.only-machines"
}

func wipeable(f view.Frame) string {
	if f.Selected.Kind != scene.Master {
		return "not.wipe-master"
	}
	if !Down(f) {
		return "not.wipe-down"
	}
	return ""
}

func broken(f view.Frame) string {
	if len(f.Scene.Faults) == 0 {
		return "not.nothing-cut"
	}
	return ""
}

func scalable(f view.Frame) string {
	if _, _, _, ok := DeploymentOf(f); !ok {
		return "not.no-deployment"
	}
	return ""
}

func nothing(f view.Frame) bool { return f.Selected.Kind == scene.Nothing }

func something(f view.Frame) bool { return !nothing(f) }

func podOrNothing(f view.Frame) bool { return nothing(f) || f.Selected.Kind == scene.Pod }

func powerWord(f view.Frame) string {
	switch {
	case f.Selected.Kind == scene.Pod:
		return "foot.crash"
	case Down(f):
		return "foot.start"
	}
	return "foot.kill"
}

func cutWord(f view.Frame) string {
	if Cut(f) {
		return "foot.heal"
	}
	return "foot.cut"
}

func pauseWord(f view.Frame) string {
	if f.Rate == 0 && !f.Unpaced && f.Slow == 0 {
		return "foot.resume"
	}
	return "foot.pause"
}

// Down reports whether the selected machine or process does not run.
func Down(f view.Frame) bool {
	host, process, _ := Machine(f.Selected)
	h, ok := f.World.Hosts.Get(host)
	if !ok {
		return false
	}
	if process != "" {
		p, ok := h.Processes[process]
		return ok && !p.Up
	}
	return !h.Up
}

// Cut reports whether a cut touches the selected machine.
func Cut(f view.Frame) bool {
	host, _, ok := Machine(f.Selected)
	if !ok {
		return false
	}
	for _, fl := range f.Scene.Faults {
		if fl.Fault.Kind == fault.Cut && fl.Fault.Touches(host) {
			return true
		}
	}
	return false
}

func past(f view.Frame) bool { return !f.Live && !f.Recording }

func deletable(f view.Frame) string {
	switch f.Selected.Kind {
	case target.Pod, target.Object:
		return ""
	}
	return "not.only-objects"
}

// DeploymentOf is the Deployment that scaling acts on, with its replicas: the selected one, that of the selected pod, or the only one there is.
func DeploymentOf(f view.Frame) (namespace, name string, replicas int, ok bool) {
	t := f.Selected
	if t.Kind == target.Object && t.Type == "deployments.apps" {
		if d, found := f.World.Deployment(t.Namespace, t.Name); found {
			return d.Namespace, d.Name, kinds.Desired(d.Spec.Replicas), true
		}
		return "", "", 0, false
	}
	if t.Kind == target.Pod {
		if p, found := f.World.Pods.Get(t.Namespace + "/" + t.Name); found {
			if d, found := ownerOf(f.World, p); found {
				return d.Namespace, d.Name, kinds.Desired(d.Spec.Replicas), true
			}
		}
	}
	if d := f.Scene.OnlyDeployment; d != nil {
		return d.Namespace, d.Name, kinds.Desired(d.Spec.Replicas), true
	}
	return "", "", 0, false
}

func ownerOf(w *world.World, p *world.Pod) (*appsv1.Deployment, bool) {
	hash := p.Object.Labels["pod-template-hash"]
	for _, o := range p.Object.OwnerReferences {
		if o.Kind == "ReplicaSet" && hash != "" {
			return w.Deployment(p.Object.Namespace, strings.TrimSuffix(o.Name, "-"+hash))
		}
	}
	return nil, false
}
