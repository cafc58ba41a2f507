// Command generate makes definitions.json.gz of package openapi: the OpenAPI definitions of every type that the API serves, in the forms of version 3 and version 2. It is a module of
// its own so that the program does not depend on the generator. Run it by `go generate ./components/apiserver/openapi`; with a filled module cache it needs no network.
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"example.com/kubeviz/components/apiserver/openapi/generate/made"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// packages are the sources of all types. The list must be closed under references: scheduling/v1alpha3 is there for batch/v1, for one.
var packages = strings.Fields(`
k8s.io/api/admissionregistration/v1 k8s.io/api/apps/v1 k8s.io/api/authentication/v1 k8s.io/api/authorization/v1 k8s.io/api/autoscaling/v1 k8s.io/api/autoscaling/v2
k8s.io/api/batch/v1 k8s.io/api/certificates/v1 k8s.io/api/coordination/v1 k8s.io/api/core/v1 k8s.io/api/discovery/v1 k8s.io/api/events/v1 k8s.io/api/networking/v1 k8s.io/api/node/v1
k8s.io/api/policy/v1 k8s.io/api/rbac/v1 k8s.io/api/scheduling/v1 k8s.io/api/scheduling/v1alpha3 k8s.io/api/storage/v1 k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1
k8s.io/apimachinery/pkg/apis/meta/v1 k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/version k8s.io/apimachinery/pkg/api/resource k8s.io/apimachinery/pkg/util/intstr
k8s.io/metrics/pkg/apis/metrics/v1beta1`)

// document is the file's form. Package openapi reads it.
type document struct {
	Modules map[string]string
	V3      map[string]*spec.Schema
	V2      spec.Definitions
}

func main() {
	log.SetFlags(0)
	var err error
	if len(os.Args) == 2 {
		err = dump(os.Args[1])
	} else {
		err = generate()
	}
	if err != nil {
		log.Fatal(err)
	}
}

// generate lets openapi-gen write Go code and runs this program again with that code in it.
func generate() error {
	header := filepath.Join(os.TempDir(), fmt.Sprintf("openapi-header-%d", os.Getpid()))
	if err := os.WriteFile(header, nil, 0o600); err != nil {
		return err
	}
	defer os.Remove(header)
	args := append([]string{"tool", "openapi-gen", "--output-dir", "made", "--output-pkg", "example.com/kubeviz/components/apiserver/openapi/generate/made", "--output-file",
		"zz_definitions.go", "--go-header-file", header, "--report-filename", os.DevNull}, packages...)
	if err := run(args...); err != nil {
		return err
	}
	if err := os.WriteFile("made/zz_init.go", []byte("package made\n\nfunc init() { Definitions = GetOpenAPIDefinitions }\n"), 0o644); err != nil {
		return err
	}
	return run("run", ".", "../definitions.json.gz")
}

func run(args ...string) error {
	c := exec.Command("go", args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("go %s: %w", args[0], err)
	}
	return nil
}

func dump(file string) error {
	if made.Definitions == nil {
		return fmt.Errorf("openapi-gen has not run")
	}
	var names []string
	for name := range made.Definitions(func(string) spec.Ref { return spec.Ref{} }) {
		names = append(names, name)
	}
	slices.Sort(names)
	extensions := groupVersionKinds()
	named := func(name string) (string, spec.Extensions) { return name, extensions[name] }
	v3, err := builder3.BuildOpenAPIDefinitionsForResources(&common.OpenAPIV3Config{Info: &spec.Info{}, GetDefinitions: made.Definitions, GetDefinitionName: named}, names...)
	if err != nil {
		return err
	}
	v2, err := builder.BuildOpenAPIDefinitionsForResources(&common.Config{Info: &spec.Info{}, GetDefinitions: made.Definitions, GetDefinitionName: named}, names...)
	if err != nil {
		return err
	}
	doc := document{Modules: map[string]string{}, V3: v3, V2: v2.Definitions}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Errorf("the versions of the modules are not known")
	}
	for _, d := range info.Deps {
		switch d.Path {
		case "k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/metrics", "k8s.io/kube-openapi":
			doc.Modules[d.Path] = d.Version
		}
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(z).Encode(doc); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Close()
}

// groupVersionKinds gives the extension x-kubernetes-group-version-kind of every type that has a name in the API.
func groupVersionKinds() map[string]spec.Extensions {
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme.Scheme))
	utilruntime.Must(metricsv1beta1.AddToScheme(scheme.Scheme))
	lists := map[string][]any{}
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal {
			continue
		}
		n, ok := reflect.New(t).Interface().(interface{ OpenAPIModelName() string })
		if !ok {
			continue
		}
		lists[n.OpenAPIModelName()] = append(lists[n.OpenAPIModelName()], map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind})
	}
	out := map[string]spec.Extensions{}
	for name, l := range lists {
		slices.SortFunc(l, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		out[name] = spec.Extensions{"x-kubernetes-group-version-kind": l}
	}
	return out
}
