package kinds

import rbacv1 "k8s.io/api/rbac/v1"

// The kinds of rbac.authorization.k8s.io/v1.
var (
	ClusterRoleBindings = &Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding", Resource: "clusterrolebindings", Singular: "clusterrolebinding",
		Prefix: "/registry/clusterrolebindings/", New: func() Object { return &rbacv1.ClusterRoleBinding{} }}
	ClusterRoles = &Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Resource: "clusterroles", Singular: "clusterrole",
		Prefix: "/registry/clusterroles/", New: func() Object { return &rbacv1.ClusterRole{} }}
	RoleBindings = &Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding", Resource: "rolebindings", Singular: "rolebinding", Namespaced: true,
		Prefix: "/registry/rolebindings/", New: func() Object { return &rbacv1.RoleBinding{} }}
	Roles = &Kind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role", Resource: "roles", Singular: "role", Namespaced: true,
		Prefix: "/registry/roles/", New: func() Object { return &rbacv1.Role{} }}
)
