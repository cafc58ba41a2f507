// Package registry gathers the descriptions of all kinds. Pure; no goroutine, no time.
package registry

import (
	"slices"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/admissionregistration"
	"example.com/kubeviz/components/apiserver/resource/apiextensions"
	"example.com/kubeviz/components/apiserver/resource/apps"
	"example.com/kubeviz/components/apiserver/resource/autoscaling"
	"example.com/kubeviz/components/apiserver/resource/batch"
	"example.com/kubeviz/components/apiserver/resource/certificates"
	"example.com/kubeviz/components/apiserver/resource/coordination"
	"example.com/kubeviz/components/apiserver/resource/core"
	"example.com/kubeviz/components/apiserver/resource/discovery"
	"example.com/kubeviz/components/apiserver/resource/networking"
	"example.com/kubeviz/components/apiserver/resource/node"
	"example.com/kubeviz/components/apiserver/resource/policy"
	"example.com/kubeviz/components/apiserver/resource/rbac"
	"example.com/kubeviz/components/apiserver/resource/scheduling"
	"example.com/kubeviz/components/apiserver/resource/storage"
	"example.com/kubeviz/engine/kinds"
)

// Registry holds the resources by kind.
type Registry map[*kinds.Kind]*resource.Resource

// New makes the registry of all built-in kinds.
func New() Registry {
	r := Registry{}
	for _, res := range slices.Concat(admissionregistration.Resources(), apiextensions.Resources(), apps.Resources(), autoscaling.Resources(), batch.Resources(), certificates.Resources(), coordination.Resources(), core.Resources(), discovery.Resources(), networking.Resources(), node.Resources(), policy.Resources(), rbac.Resources(), scheduling.Resources(), storage.Resources()) {
		r[res.Kind] = res
	}
	return r
}
