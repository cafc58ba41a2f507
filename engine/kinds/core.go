package kinds

import corev1 "k8s.io/api/core/v1"

// The kinds of v1.
var (
	ConfigMaps = &Kind{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Singular: "configmap", Short: []string{"cm"}, Namespaced: true,
		Prefix: "/registry/configmaps/", New: func() Object { return &corev1.ConfigMap{} }}
	Endpoints = &Kind{Version: "v1", Kind: "Endpoints", Resource: "endpoints", Singular: "endpoints", Short: []string{"ep"}, Namespaced: true,
		Prefix: "/registry/services/endpoints/", Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
		//lint:ignore SA1019 served all the same, and asked for
		New: func() Object { return &corev1.Endpoints{} }}
	Events = &Kind{Version: "v1", Kind: "Event", Resource: "events", Singular: "event", Short: []string{"ev"}, Namespaced: true,
		Prefix: "/registry/events/", Faces: []*Face{eventFace}, New: func() Object { return &corev1.Event{} }}
	LimitRanges = &Kind{Version: "v1", Kind: "LimitRange", Resource: "limitranges", Singular: "limitrange", Short: []string{"limits"}, Namespaced: true,
		Prefix: "/registry/limitranges/", New: func() Object { return &corev1.LimitRange{} }}
	Namespaces = &Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces", Singular: "namespace", Short: []string{"ns"}, NoCollectionDelete: true,
		Prefix: "/registry/namespaces/", Subresources: []Subresource{finalize, status}, New: func() Object { return &corev1.Namespace{} }}
	Nodes = &Kind{Version: "v1", Kind: "Node", Resource: "nodes", Singular: "node", Short: []string{"no"},
		Prefix: "/registry/minions/", Subresources: []Subresource{nodeProxy, status}, New: func() Object { return &corev1.Node{} }}
	PersistentVolumeClaims = &Kind{Version: "v1", Kind: "PersistentVolumeClaim", Resource: "persistentvolumeclaims", Singular: "persistentvolumeclaim", Short: []string{"pvc"}, Namespaced: true,
		Prefix: "/registry/persistentvolumeclaims/", Subresources: []Subresource{status}, New: func() Object { return &corev1.PersistentVolumeClaim{} }}
	PersistentVolumes = &Kind{Version: "v1", Kind: "PersistentVolume", Resource: "persistentvolumes", Singular: "persistentvolume", Short: []string{"pv"},
		Prefix: "/registry/persistentvolumes/", Subresources: []Subresource{status}, New: func() Object { return &corev1.PersistentVolume{} }}
	Pods = &Kind{Version: "v1", Kind: "Pod", Resource: "pods", Singular: "pod", Short: []string{"po"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/pods/", Subresources: []Subresource{attach, binding, ephemeralContainers, eviction, exec, podLog, portForward, podProxy, resize, status}, New: func() Object { return &corev1.Pod{} }}
	PodTemplates = &Kind{Version: "v1", Kind: "PodTemplate", Resource: "podtemplates", Singular: "podtemplate", Namespaced: true,
		Prefix: "/registry/podtemplates/", New: func() Object { return &corev1.PodTemplate{} }}
	ReplicationControllers = &Kind{Version: "v1", Kind: "ReplicationController", Resource: "replicationcontrollers", Singular: "replicationcontroller", Short: []string{"rc"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/controllers/", Subresources: []Subresource{scale, status}, New: func() Object { return &corev1.ReplicationController{} }}
	ResourceQuotas = &Kind{Version: "v1", Kind: "ResourceQuota", Resource: "resourcequotas", Singular: "resourcequota", Short: []string{"quota"}, Namespaced: true,
		Prefix: "/registry/resourcequotas/", Subresources: []Subresource{status}, New: func() Object { return &corev1.ResourceQuota{} }}
	Secrets = &Kind{Version: "v1", Kind: "Secret", Resource: "secrets", Singular: "secret", Namespaced: true,
		Prefix: "/registry/secrets/", New: func() Object { return &corev1.Secret{} }}
	ServiceAccounts = &Kind{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts", Singular: "serviceaccount", Short: []string{"sa"}, Namespaced: true,
		Prefix: "/registry/serviceaccounts/", Subresources: []Subresource{token}, New: func() Object { return &corev1.ServiceAccount{} }}
	Services = &Kind{Version: "v1", Kind: "Service", Resource: "services", Singular: "service", Short: []string{"svc"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/services/specs/", Subresources: []Subresource{serviceProxy, status}, New: func() Object { return &corev1.Service{} }}
)
