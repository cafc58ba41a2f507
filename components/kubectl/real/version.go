package real

import (
	"runtime/debug"
	"strings"
	_ "unsafe" // for linkname

	"k8s.io/component-base/version"
)

// module whose version is kubectl's: v0.37.0 of it is kubectl v1.37.0.
const module = "k8s.io/kubectl"

// vendored is the version where the build does not tell: a test binary knows no modules. A test holds it to go.mod.
const vendored = "v0.37.0"

// Version of kubectl that is built in: v1.37.0.
func Version() string {
	v := vendored
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == module && strings.HasPrefix(d.Version, "v0.") {
				v = d.Version
			}
		}
	}
	return "v1" + strings.TrimPrefix(v, "v0")
}

// The variables of the Kubernetes builds are meant to be set by the linker (-X), which neither `go run` nor `go install` of this program does; kubectl then fails to
// parse its own placeholder. There is no setter: SetDynamicVersion takes only what has the numbers of the placeholder. So they are reached by name, as the linker
// would. They are written once, in the child, before anything reads them.

//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

//go:linkname gitMajor k8s.io/component-base/version.gitMajor
var gitMajor string

//go:linkname gitMinor k8s.io/component-base/version.gitMinor
var gitMinor string

//go:linkname gitCommit k8s.io/component-base/version.gitCommit
var gitCommit string

//go:linkname agentVersion k8s.io/client-go/pkg/version.gitVersion
var agentVersion string

//go:linkname agentCommit k8s.io/client-go/pkg/version.gitCommit
var agentCommit string

// setVersion fills in the version unless the linker did.
func setVersion(v string) {
	if !strings.Contains(gitVersion, "$Format") {
		return
	}
	numbers := strings.SplitN(strings.TrimPrefix(v, "v"), ".", 3)
	gitVersion, agentVersion = v, v
	gitMajor, gitMinor = numbers[0], numbers[1]
	gitCommit, agentCommit = "", ""
	_ = version.SetDynamicVersion(v) // what is the same as gitVersion is always taken
}
