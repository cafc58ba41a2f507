module example.com/kubeviz

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1 // linearizability of recorded histories
	github.com/charmbracelet/bubbles v1.0.0 // the text field of the console
	github.com/charmbracelet/bubbletea v1.3.10 // the terminal loop of the screen
	github.com/charmbracelet/lipgloss v1.1.0 // colour profiles and styles
	github.com/charmbracelet/x/ansi v0.11.6 // widths and cutting of styled text
	github.com/charmbracelet/x/term v0.2.2 // the terminal state that is given back
	github.com/evanphx/json-patch/v5 v5.9.11 // JSON patches of the API server
	github.com/go-logr/logr v1.4.3 // the logger that toleration matching asks for; it discards
	github.com/hashicorp/go-hclog v1.6.2 // the logger that raft asks for
	github.com/hashicorp/raft v1.7.3 // consensus of the store; v1.8.0 clashes with raft-boltdb over go-metrics
	github.com/hashicorp/raft-boltdb/v2 v2.3.1 // log and vote of a store member on disk
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // differences of specs, line by line as a server shows them
	github.com/robfig/cron/v3 v3.0.1 // the schedules of CronJobs
	github.com/spf13/cobra v1.10.2 // flags, help and shell completion
	github.com/tidwall/btree v1.8.2 // ordered maps with O(1) copies: store, caches, world
	go.etcd.io/bbolt v1.5.0 // the file under raft-boltdb, opened with our options
	golang.org/x/sys v0.50.0 // terminal and file descriptor calls
	k8s.io/api v0.37.0 // the Kubernetes types
	k8s.io/apimachinery v0.37.0 // selectors, quantities, validation, protobuf, patches, errors
	k8s.io/client-go v0.37.0 // JSONPath of the columns that custom resources name
	k8s.io/component-helpers v0.37.0 // node affinity and tolerations as the scheduler matches them
	k8s.io/cri-streaming v0.37.0 // exec, attach and port-forward over SPDY, the server's side
	k8s.io/klog/v2 v2.140.0 // the same, where its type is wanted
	k8s.io/metrics v0.37.0 // the types of metrics.k8s.io, which kubectl brings along
	k8s.io/pod-security-admission v0.37.0 // the rules of the Pod Security Standards, each version of them
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // the printed form that template hashes are made of
	mvdan.cc/sh/v3 v3.13.1 // the shell in simulated containers, with our own commands and files
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // patches: unknown and duplicate fields in a server's words
	sigs.k8s.io/structured-merge-diff/v6 v6.4.2 // managed fields and server-side apply
	sigs.k8s.io/yaml v1.6.0 // manifests and scenarios, strict and bounded
)

require (
	github.com/armon/go-metrics v0.4.1 // indirect
	github.com/atotto/clipboard v0.1.4 // indirect
	github.com/aymanbagabas/go-osc52/v2 v2.0.1 // indirect
	github.com/boltdb/bolt v1.3.1 // indirect
	github.com/charmbracelet/colorprofile v0.4.1 // indirect
	github.com/charmbracelet/x/cellbuf v0.0.15 // indirect
	github.com/clipperhouse/displaywidth v0.9.0 // indirect
	github.com/clipperhouse/stringish v0.1.1 // indirect
	github.com/clipperhouse/uax29/v2 v2.5.0 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/erikgeiser/coninput v0.0.0-20211004153227-1c3628e74d0f // indirect
	github.com/fatih/color v1.13.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.1 // indirect
	github.com/go-openapi/jsonpointer v1.0.0 // indirect
	github.com/go-openapi/jsonreference v1.0.0 // indirect
	github.com/go-openapi/swag v0.27.1 // indirect
	github.com/go-openapi/swag/cmdutils v0.27.1 // indirect
	github.com/go-openapi/swag/conv v0.27.1 // indirect
	github.com/go-openapi/swag/fileutils v0.27.1 // indirect
	github.com/go-openapi/swag/jsonutils v0.27.1 // indirect
	github.com/go-openapi/swag/loading v0.27.1 // indirect
	github.com/go-openapi/swag/mangling v0.27.1 // indirect
	github.com/go-openapi/swag/netutils v0.27.1 // indirect
	github.com/go-openapi/swag/pools v0.27.1 // indirect
	github.com/go-openapi/swag/stringutils v0.27.1 // indirect
	github.com/go-openapi/swag/typeutils v0.27.1 // indirect
	github.com/go-openapi/swag/yamlutils v0.27.1 // indirect
	github.com/google/gnostic-models v0.7.0 // OpenAPI documents in their protobuf form
	github.com/hashicorp/go-immutable-radix v1.0.0 // indirect
	github.com/hashicorp/go-metrics v0.5.4 // indirect
	github.com/hashicorp/go-msgpack/v2 v2.1.2 // indirect
	github.com/hashicorp/golang-lru v0.5.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/lucasb-eyer/go-colorful v1.3.0 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/mattn/go-localereader v0.0.1 // indirect
	github.com/mattn/go-runewidth v0.0.19 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/muesli/ansi v0.0.0-20230316100256-276c6243b2f6 // indirect
	github.com/muesli/cancelreader v0.2.2 // indirect
	github.com/muesli/termenv v0.16.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // Accept headers of the HTTP API
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/spf13/pflag v1.0.10
	github.com/x448/float16 v0.8.4 // indirect
	github.com/xo/terminfo v0.0.0-20220910002029-abceb7e1c41e // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	go.yaml.in/yaml/v3 v3.0.4 // indirect
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af // the same
	gopkg.in/inf.v0 v0.9.1 // indirect
	k8s.io/apiextensions-apiserver v0.37.0
	k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad
	sigs.k8s.io/randfill v1.0.0 // indirect
)

require (
	k8s.io/cli-runtime v0.37.0 // flags and streams of kubectl
	k8s.io/component-base v0.37.0 // version and logging of kubectl
	k8s.io/kubectl v0.37.0 // kubectl itself, in a child process of this program
)

require (
	github.com/gorilla/websocket v1.5.4-0.20250319132907-e064f32e3674 // the WebSocket in which kubectl forwards ports
	github.com/moby/spdystream v0.5.1 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/term v0.45.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	k8s.io/streaming v0.37.0 // the channels of commands over WebSocket
)

require k8s.io/apiserver v0.37.0 // CEL: environments, libraries, costs, conditions of policies

require (
	cel.dev/expr v0.25.1 // indirect
	github.com/Azure/go-ansiterm v0.0.0-20250102033503-faa5f7b0171c // indirect
	github.com/MakeNowJust/heredoc v1.0.0 // indirect
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/blang/semver/v4 v4.0.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/chai2010/gettext-go v1.0.2 // indirect
	github.com/distribution/reference v0.6.0 // indirect
	github.com/emicklei/go-restful/v3 v3.13.0 // indirect
	github.com/exponent-io/jsonpath v0.0.0-20210407135951-1de76d718b3f // indirect
	github.com/fatih/camelcase v1.0.0 // indirect
	github.com/go-errors/errors v1.4.2 // indirect
	github.com/google/btree v1.1.3 // indirect
	github.com/google/cel-go v0.29.2 // indirect; the language itself
	github.com/google/uuid v1.6.0 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/liggitt/tabwriter v0.0.0-20181228230101-89fcab3d43de // indirect
	github.com/lithammer/dedent v1.1.0 // indirect
	github.com/mitchellh/go-wordwrap v1.0.1 // indirect
	github.com/moby/term v0.5.2 // indirect
	github.com/monochromegane/go-gitignore v0.0.0-20200626010858-205db1a8cc00 // indirect
	github.com/mxk/go-flowrate v0.0.0-20140419014527-cca7078d478f // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/peterbourgon/diskv v2.0.1+incompatible // indirect
	github.com/prometheus/client_golang v1.24.0 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/prometheus/common v0.70.0 // indirect
	github.com/prometheus/procfs v0.21.1 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/xlab/treeprint v1.2.0 // indirect
	go.opentelemetry.io/otel v1.44.0 // indirect
	go.opentelemetry.io/otel/trace v1.44.0 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	golang.org/x/sync v0.22.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260526163538-3dc84a4a5aaa // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260526163538-3dc84a4a5aaa // indirect
	gopkg.in/evanphx/json-patch.v4 v4.13.0 // indirect
	sigs.k8s.io/kustomize/api v0.21.1 // indirect
	sigs.k8s.io/kustomize/kustomize/v5 v5.8.1 // indirect
	sigs.k8s.io/kustomize/kyaml v0.21.1 // indirect
)
