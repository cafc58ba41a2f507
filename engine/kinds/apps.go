package kinds

import appsv1 "k8s.io/api/apps/v1"

// The kinds of apps/v1.
var (
	ControllerRevisions = &Kind{Group: "apps", Version: "v1", Kind: "ControllerRevision", Resource: "controllerrevisions", Singular: "controllerrevision", Namespaced: true,
		Prefix: "/registry/controllerrevisions/", New: func() Object { return &appsv1.ControllerRevision{} }}
	DaemonSets = &Kind{Group: "apps", Version: "v1", Kind: "DaemonSet", Resource: "daemonsets", Singular: "daemonset", Short: []string{"ds"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/daemonsets/", Subresources: []Subresource{status}, New: func() Object { return &appsv1.DaemonSet{} }}
	Deployments = &Kind{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Singular: "deployment", Short: []string{"deploy"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/deployments/", Subresources: []Subresource{scale, status}, New: func() Object { return &appsv1.Deployment{} }}
	ReplicaSets = &Kind{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets", Singular: "replicaset", Short: []string{"rs"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/replicasets/", Subresources: []Subresource{scale, status}, New: func() Object { return &appsv1.ReplicaSet{} }}
	StatefulSets = &Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets", Singular: "statefulset", Short: []string{"sts"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/statefulsets/", Subresources: []Subresource{scale, status}, New: func() Object { return &appsv1.StatefulSet{} }}
)
