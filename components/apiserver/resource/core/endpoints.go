package core

//lint:file-ignore SA1019 Endpoints are served and kept for old clients all the same

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

// endpointsManager writes addresses in their right form, so its objects are not looked at for warnings.
const endpointsManager = "endpoint-controller"

func endpointsResource() *resource.Resource {
	type endpoints = *corev1.Endpoints
	subsets := field.NewPath("subsets")
	return &resource.Resource{
		Kind: kinds.Endpoints,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(o endpoints) {
			for i := range o.Subsets {
				for j := range o.Subsets[i].Ports {
					if p := &o.Subsets[i].Ports[j]; p.Protocol == "" {
						p.Protocol = corev1.ProtocolTCP
					}
				}
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o endpoints) field.ErrorList { return validateSubsets(o.Subsets, subsets) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old endpoints, _ string) field.ErrorList {
			errs := validateSubsets(o.Subsets, subsets)
			if len(errs) > 0 && apiequality.Semantic.DeepEqual(o.Subsets, old.Subsets) {
				return nil // older versions let it in
			}
			return errs
		}),
		Warn: resource.TypedWarn(func(o, _ endpoints) []string {
			if o.Labels[managedBy] == endpointsManager {
				return nil
			}
			var out []string
			for i, s := range o.Subsets {
				for _, l := range []struct {
					name string
					list []corev1.EndpointAddress
				}{{"addresses", s.Addresses}, {"notReadyAddresses", s.NotReadyAddresses}} {
					for j, a := range l.list {
						out = append(out, validation.GetWarningsForIP(subsets.Index(i).Child(l.name).Index(j).Child("ip"), a.IP)...)
					}
				}
			}
			return out
		}),
	}
}

// managedBy labels the objects of the endpoints controller.
const managedBy = "endpoints.kubernetes.io/managed-by"

func validateSubsets(list []corev1.EndpointSubset, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range list {
		s, at := &list[i], at.Index(i)
		if len(s.Addresses)+len(s.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(at, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j := range s.Addresses {
			errs = append(errs, validateAddress(&s.Addresses[j], at.Child("addresses").Index(j))...)
		}
		for j := range s.NotReadyAddresses {
			errs = append(errs, validateAddress(&s.NotReadyAddresses[j], at.Child("notReadyAddresses").Index(j))...)
		}
		for j := range s.Ports {
			errs = append(errs, validateEndpointPort(&s.Ports[j], len(s.Ports) > 1, at.Child("ports").Index(j))...)
		}
	}
	return errs
}

func validateAddress(a *corev1.EndpointAddress, at *field.Path) field.ErrorList {
	errs := validation.IsValidIPForLegacyField(at.Child("ip"), a.IP, true, nil)
	if a.Hostname != "" {
		errs = append(errs, check.Label1123(a.Hostname, at.Child("hostname"))...)
	}
	if a.NodeName != nil {
		errs = append(errs, check.Texts(at.Child("nodeName"), *a.NodeName, apivalidation.NameIsDNSSubdomain(*a.NodeName, false))...)
	}
	return append(errs, check.UsableIP(a.IP, at.Child("ip"))...)
}

// protocols of ports, sorted as errors list them.
var protocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}

func validateEndpointPort(p *corev1.EndpointPort, named bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case p.Name != "":
		errs = append(errs, check.Label1123(p.Name, at.Child("name"))...)
	case named:
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	errs = append(errs, check.PortRange(int(p.Port), at.Child("port"))...)
	errs = append(errs, check.SetOneOf(at.Child("protocol"), p.Protocol, protocols...)...)
	if p.AppProtocol != nil {
		errs = append(errs, check.QualifiedName(*p.AppProtocol, at.Child("appProtocol"))...)
	}
	return errs
}
