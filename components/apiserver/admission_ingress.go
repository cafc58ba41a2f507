package apiserver

import (
	networkingv1 "k8s.io/api/networking/v1"

	"example.com/kubeviz/engine/kinds"
)

// defaultIngressClass gives an Ingress that names no class the cluster's default, if there is one (k/k plugin/pkg/admission/network/defaultingressclass).
func defaultIngressClass(a *attributes) error {
	in, ok := a.obj.(*networkingv1.Ingress)
	if !ok || !a.creates() || in.Spec.IngressClassName != nil {
		return nil
	}
	if _, ok := in.Annotations["kubernetes.io/ingress.class"]; ok { // from before there were classes
		return nil
	}
	var newest *networkingv1.IngressClass // of several, and of those as old the first by name
	eachSeen(a, kinds.IngressClasses, "", func(c *networkingv1.IngressClass) bool {
		if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" && (newest == nil || newest.CreationTimestamp.Before(&c.CreationTimestamp)) {
			newest = c
		}
		return true
	})
	if newest != nil {
		name := newest.Name
		in.Spec.IngressClassName = &name
	}
	return nil
}
