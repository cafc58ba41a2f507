package managed

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/kubeviz/engine/kinds"
)

// resetAlso is what a part of a kind resets (nobody who writes there owns it), where that is not just the status for the object and the spec for its status
// (k/k pkg/registry: GetResetFields of the strategies).
var resetAlso = map[*kinds.Kind]map[string]fieldpath.Filter{
	kinds.Pods: {
		"status": without(path("spec"), path("metadata", "deletionTimestamp"), path("metadata", "ownerReferences")),
		"ephemeralcontainers": fieldpath.NewIncludeMatcherFilter(
			fieldpath.MakePrefixMatcherOrDie("spec", "ephemeralContainers")),
		"resize": fieldpath.NewIncludeMatcherFilter(
			fieldpath.MakePrefixMatcherOrDie("spec", "containers", fieldpath.MatchAnyPathElement(), "resources"),
			fieldpath.MakePrefixMatcherOrDie("spec", "containers", fieldpath.MatchAnyPathElement(), "resizePolicy"),
			fieldpath.MakePrefixMatcherOrDie("spec", "initContainers", fieldpath.MatchAnyPathElement(), "resources"),
			fieldpath.MakePrefixMatcherOrDie("spec", "initContainers", fieldpath.MatchAnyPathElement(), "resizePolicy")),
	},
	kinds.Namespaces:  {"finalize": without(path("status"))},
	kinds.Deployments: {"status": without(path("spec"), path("metadata", "labels"))},
	kinds.CertificateSigningRequests: {
		"":         without(path("spec"), path("status")),
		"status":   without(path("spec"), path("status", "conditions")),
		"approval": without(path("spec"), path("status", "certificate")),
	},
	kinds.CustomResourceDefinitions:   {"status": without(path("metadata"), path("spec"))},
	kinds.ValidatingAdmissionPolicies: {"status": without(path("spec"), path("metadata"))},
	kinds.ServiceCIDRs:                {"status": without(path("metadata"), path("spec"))},
	kinds.VolumeAttachments:           {"status": without(path("metadata"), path("spec"))},
	kinds.CSINodes:                    {"status": without(path("metadata"), path("spec"))},
}

func path(parts ...any) fieldpath.Path { return fieldpath.MakePathOrDie(parts...) }

func without(paths ...fieldpath.Path) fieldpath.Filter {
	return fieldpath.NewExcludeSetFilter(fieldpath.NewSet(paths...))
}

// reset gives the filter of a part, for every version in which the kind is served.
func reset(k *kinds.Kind, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	filter := resetAlso[k][subresource]
	if filter == nil {
		_, has := k.Subresource("status")
		switch {
		case !has:
			return nil
		case subresource == "":
			filter = without(path("status"))
		case subresource == "status":
			filter = without(path("spec"))
		default:
			return nil
		}
	}
	out := map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(k.APIVersion()): filter}
	for _, f := range k.Faces {
		out[fieldpath.APIVersion(f.GVK().GroupVersion().String())] = filter
	}
	return out
}
