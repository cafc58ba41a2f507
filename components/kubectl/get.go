package kubectl

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// get prints a table as kubectl does (fidelity 11), without ages' seconds drifting: ages are of the simulated clock.
func get(k *call) ([]string, error) {
	kind, name, err := k.subject()
	if err != nil {
		return nil, err
	}
	if k.flags["output"] != "" {
		return nil, errors.New("error: -o is not offered here")
	}
	ns := k.scope(kind)
	if k.flags["all-namespaces"] == "true" {
		ns = ""
	}
	var items []kinds.Object
	if name != "" {
		o, err := kubeapi.Fetch[kinds.Object](k.p, k.c, kind, ns, name)
		if err != nil {
			return nil, err
		}
		items = []kinds.Object{o}
	} else if items, _, err = kubeapi.FetchList[kinds.Object](k.p, k.c, kind, kubeapi.ListOptions{Namespace: ns}); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		if kind.Namespaced && ns != "" {
			return []string{"No resources found in " + ns + " namespace."}, nil
		}
		return []string{"No resources found"}, nil
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	wide := ns == "" && kind.Namespaced
	fmt.Fprintln(w, row(wide, "NAMESPACE", header(kind)))
	for _, o := range items {
		age := "<unknown>"
		if t := o.GetCreationTimestamp(); !t.IsZero() {
			age = kinds.Age(k.p.Now().Sub(t.Time))
		}
		fmt.Fprintln(w, row(wide, o.GetNamespace(), cells(o, age)))
	}
	w.Flush()
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines, nil
}

func row(wide bool, namespace string, cells []string) string {
	if wide {
		cells = append([]string{namespace}, cells...)
	}
	return strings.Join(cells, "\t")
}

func header(kind *kinds.Kind) []string {
	switch kind {
	case kinds.Pods:
		return []string{"NAME", "READY", "STATUS", "RESTARTS", "AGE"}
	case kinds.Nodes:
		return []string{"NAME", "STATUS", "ROLES", "AGE", "VERSION"}
	case kinds.Deployments:
		return []string{"NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"}
	case kinds.ReplicaSets:
		return []string{"NAME", "DESIRED", "CURRENT", "READY", "AGE"}
	case kinds.Leases:
		return []string{"NAME", "HOLDER", "AGE"}
	case kinds.Namespaces:
		return []string{"NAME", "STATUS", "AGE"}
	case kinds.Events:
		return []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}
	}
	return []string{"NAME", "AGE"}
}

func cells(o kinds.Object, age string) []string {
	switch o := o.(type) {
	case *corev1.Pod:
		ready, total := kinds.PodReady(o)
		return []string{o.Name, fmt.Sprintf("%d/%d", ready, total), kinds.PodStatus(o), fmt.Sprint(kinds.PodRestarts(o)), age}
	case *corev1.Node:
		return []string{o.Name, kinds.NodeStatus(o), kinds.NodeRoles(o), age, o.Status.NodeInfo.KubeletVersion}
	case *appsv1.Deployment:
		return []string{o.Name, fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, *o.Spec.Replicas), fmt.Sprint(o.Status.UpdatedReplicas), fmt.Sprint(o.Status.AvailableReplicas), age}
	case *appsv1.ReplicaSet:
		return []string{o.Name, fmt.Sprint(*o.Spec.Replicas), fmt.Sprint(o.Status.Replicas), fmt.Sprint(o.Status.ReadyReplicas), age}
	case *coordinationv1.Lease:
		holder := ""
		if o.Spec.HolderIdentity != nil {
			holder = *o.Spec.HolderIdentity
		}
		return []string{o.Name, holder, age}
	case *corev1.Namespace:
		return []string{o.Name, string(o.Status.Phase), age}
	case *corev1.Event:
		return []string{age, o.Type, o.Reason, strings.ToLower(o.InvolvedObject.Kind) + "/" + o.InvolvedObject.Name, o.Message}
	}
	return []string{o.GetName(), age}
}
