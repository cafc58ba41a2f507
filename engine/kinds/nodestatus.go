package kinds

import (
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// roleLabel is the prefix of labels that give a node its roles.
const roleLabel = "node-role.kubernetes.io/"

// NodeStatus is kubectl's STATUS column of a node (fidelity COL-3).
func NodeStatus(n *corev1.Node) string {
	s := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			s = "NotReady"
			if c.Status == corev1.ConditionTrue {
				s = "Ready"
			}
		}
	}
	if n.Spec.Unschedulable {
		s += ",SchedulingDisabled"
	}
	return s
}

// NodeRoles is kubectl's ROLES column of a node.
func NodeRoles(n *corev1.Node) string {
	var roles []string
	for k, v := range n.Labels {
		if r, ok := strings.CutPrefix(k, roleLabel); ok && r != "" {
			roles = append(roles, r)
		} else if k == "kubernetes.io/role" && v != "" {
			roles = append(roles, v)
		}
	}
	if len(roles) == 0 {
		return "<none>"
	}
	sort.Strings(roles)
	return strings.Join(roles, ",")
}
