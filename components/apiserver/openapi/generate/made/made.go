// Package made is where openapi-gen writes its definitions while they are generated. What it writes is not kept in the repository.
package made

import "k8s.io/kube-openapi/pkg/common"

// Definitions is set by the written code; nil before openapi-gen has run.
var Definitions common.GetOpenAPIDefinitions
