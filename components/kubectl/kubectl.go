// Package kubectl answers the few lines of kubectl that the console offers before the real kubectl is embedded: create deployment, run, scale, set image,
// rollout undo and restart, delete, cordon and uncordon, get. Each does what kubectl does: the same requests to the API server, the same confirmations.
//
// Owns: Run, Apply. Imports of ours: components/kubeapi, engine/kinds, engine/sim. Goroutines: the loop; calls park. Time: simulated.
package kubectl

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// call is one line being answered.
type call struct {
	p     *sim.Proc
	c     *kubeapi.Client
	args  []string // positional
	flags map[string]string
}

// namespace of the call.
func (k *call) namespace() string {
	if ns := k.flags["namespace"]; ns != "" {
		return ns
	}
	return metav1.NamespaceDefault
}

// known flags, and whether they take a value.
var flags = map[string]bool{"namespace": true, "image": true, "replicas": true, "requests": true, "overrides": true, "cascade": true, "wait": true,
	"grace-period": true, "force": false, "all-namespaces": false, "to-revision": true, "labels": true, "output": true}

var short = map[string]string{"n": "namespace", "A": "all-namespaces", "l": "labels", "o": "output"}

// Run answers a line: what kubectl would print, or why it failed, as kubectl words it.
func Run(p *sim.Proc, c *kubeapi.Client, args []string) ([]string, error) {
	k, err := parse(p, c, args)
	if err != nil {
		return nil, err
	}
	verb := ""
	if len(k.args) > 0 {
		verb, k.args = k.args[0], k.args[1:]
	}
	if two := verb + " " + first(k.args); handlers[two] != nil {
		verb, k.args = two, k.args[1:]
	}
	h := handlers[verb]
	if h == nil {
		return nil, fmt.Errorf("error: kubectl %q is not offered here; there are %s", verb, offered())
	}
	out, err := h(k)
	return out, words(err)
}

var handlers = map[string]func(*call) ([]string, error){
	"create deployment": createDeployment, "run": run, "scale": scale, "set image": setImage, "rollout undo": undo, "rollout restart": restart,
	"delete": remove, "cordon": cordon(true), "uncordon": cordon(false), "get": get,
}

func offered() string {
	var names []string
	for n := range handlers {
		names = append(names, n)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

func parse(p *sim.Proc, c *kubeapi.Client, args []string) (*call, error) {
	k := &call{p: p, c: c, flags: map[string]string{}}
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, has := "", "", false
		switch {
		case strings.HasPrefix(a, "--"):
			name, value, has = strings.Cut(a[2:], "=")
		case strings.HasPrefix(a, "-") && len(a) > 1:
			name = short[a[1:2]]
			value, has = a[2:], len(a) > 2
		default:
			k.args = append(k.args, a)
			continue
		}
		takes, ok := flags[name]
		if !ok {
			return nil, fmt.Errorf("error: unknown flag: %s", a)
		}
		if takes && !has {
			if i+1 == len(args) {
				return nil, fmt.Errorf("error: flag needs an argument: %s", a)
			}
			i++
			value = args[i]
		}
		if !takes && !has {
			value = "true"
		}
		k.flags[name] = value
	}
	return k, nil
}

// words turns an error into what kubectl prints (fidelity 1.2).
func words(err error) error {
	var status *apierrors.StatusError
	var transport *kubeapi.TransportError
	var worded wrapped
	switch {
	case err == nil:
		return nil
	case errors.As(err, &worded):
		return err
	case errors.As(err, &status):
		s := status.Status()
		switch {
		case s.Reason == metav1.StatusReasonInvalid:
			return wrapped{"The " + s.Message, err}
		case s.Reason == metav1.StatusReasonUnknown || s.Reason == "":
			return wrapped{"Error from server: " + s.Message, err}
		}
		return wrapped{fmt.Sprintf("Error from server (%s): %s", s.Reason, s.Message), err}
	case errors.As(err, &transport):
		if strings.Contains(transport.Err.Error(), "refused") {
			return wrapped{"The connection to the server balancer:6443 was refused - did you specify the right host or port?", err}
		}
		return wrapped{"Unable to connect to the server: " + err.Error(), err}
	}
	return err
}

type wrapped struct {
	text string
	err  error
}

func (w wrapped) Error() string { return w.text }
func (w wrapped) Unwrap() error { return w.err }

// Unavailable reports that the API did not answer, or could not yet: worth trying again.
func Unavailable(err error) bool {
	var transport *kubeapi.TransportError
	if errors.As(err, &transport) {
		return true
	}
	var status *apierrors.StatusError
	return errors.As(err, &status) && (status.Status().Code >= 500 || status.Status().Code == 429 || status.Status().Reason == metav1.StatusReasonNotFound ||
		status.Status().Reason == metav1.StatusReasonForbidden)
}

func createDeployment(k *call) ([]string, error) {
	name := first(k.args)
	if name == "" || k.flags["image"] == "" {
		return nil, errors.New("error: required: a name and --image")
	}
	n, err := k.number("replicas", 1)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{"app": name}
	container := strings.Split(strings.Split(last(strings.Split(k.flags["image"], "/")), ":")[0], "@")[0]
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: k.namespace(), Labels: labels},
		Spec: appsv1.DeploymentSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: k.flags["image"]}}}}}}
	if _, err := kubeapi.Make(k.p, k.c, d); err != nil {
		return nil, wrapped{"error: failed to create deployment: " + err.Error(), err} // kubectl says no more than that here
	}
	return []string{"deployment.apps/" + name + " created"}, nil
}

func run(k *call) ([]string, error) {
	name := first(k.args)
	if name == "" || k.flags["image"] == "" {
		return nil, errors.New("error: required: a name and --image")
	}
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: k.namespace(), Labels: map[string]string{"run": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: k.flags["image"]}}}}
	if r := k.flags["requests"]; r != "" { // kubectl dropped this flag; it is handier than --overrides
		list := corev1.ResourceList{}
		for _, part := range strings.Split(r, ",") {
			res, q, _ := strings.Cut(part, "=")
			quantity, err := resource.ParseQuantity(q)
			if err != nil {
				return nil, fmt.Errorf("error: --requests: %q: %w", part, err)
			}
			list[corev1.ResourceName(res)] = quantity
		}
		pod.Spec.Containers[0].Resources.Requests = list
	}
	if o := k.flags["overrides"]; o != "" {
		data, err := yaml.Marshal(pod)
		if err == nil {
			data, err = yaml.YAMLToJSON(data)
		}
		if err == nil {
			data, err = jsonpatch.MergePatch(data, []byte(o))
		}
		if err == nil {
			pod = &corev1.Pod{}
			err = yaml.UnmarshalStrict(data, pod)
		}
		if err != nil {
			return nil, fmt.Errorf("error: --overrides: %w", err)
		}
	}
	if _, err := kubeapi.Make(k.p, k.c, pod); err != nil {
		return nil, err
	}
	return []string{"pod/" + name + " created"}, nil
}

// subject reads "KIND NAME" or "KIND/NAME".
func (k *call) subject() (*kinds.Kind, string, error) {
	kind, name, has := strings.Cut(first(k.args), "/")
	rest := k.args
	if len(rest) > 0 {
		rest = rest[1:]
	}
	if !has {
		name = first(rest)
		if len(rest) > 0 {
			rest = rest[1:]
		}
	}
	k.args = rest
	row, ok := kinds.Named(kind)
	if !ok {
		return nil, "", fmt.Errorf("error: the server doesn't have a resource type %q", kind)
	}
	return row, name, nil
}

func (k *call) number(flag string, unset int32) (int32, error) {
	v, ok := k.flags[flag]
	if !ok {
		return unset, nil
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("error: --%s=%s is not a number", flag, v)
	}
	return int32(n), nil
}

func (k *call) patch(kind *kinds.Kind, name string, t types.PatchType, data string) error {
	_, err := k.c.Do(k.p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kind, Namespace: k.scope(kind), Name: name, PatchType: t, Patch: []byte(data)})
	return err
}

func (k *call) scope(kind *kinds.Kind) string {
	if kind.Namespaced {
		return k.namespace()
	}
	return ""
}

func scale(k *call) ([]string, error) {
	kind, name, err := k.subject()
	if err != nil {
		return nil, err
	}
	n, err := k.number("replicas", -1)
	if err != nil {
		return nil, err
	}
	if n < 0 || name == "" || (kind != kinds.Deployments && kind != kinds.ReplicaSets) {
		return nil, errors.New("error: write scale deployment NAME --replicas=N")
	}
	if err := k.patch(kind, name, types.MergePatchType, fmt.Sprintf(`{"spec":{"replicas":%d}}`, n)); err != nil {
		return nil, err
	}
	return []string{kind.String() + "/" + name + " scaled"}, nil
}

func setImage(k *call) ([]string, error) {
	kind, name, err := k.subject()
	if err != nil {
		return nil, err
	}
	container, image, ok := strings.Cut(first(k.args), "=")
	if kind != kinds.Deployments || name == "" || !ok {
		return nil, errors.New("error: write set image deployment/NAME CONTAINER=IMAGE")
	}
	d, err := kubeapi.Fetch[*appsv1.Deployment](k.p, k.c, kind, k.namespace(), name)
	if err != nil {
		return nil, err
	}
	changed := d.DeepCopy()
	found := false
	for i := range changed.Spec.Template.Spec.Containers {
		if c := &changed.Spec.Template.Spec.Containers[i]; c.Name == container || container == "*" {
			c.Image, found = image, true
		}
	}
	if !found {
		return nil, fmt.Errorf("error: unable to find container named %q", container)
	}
	if _, err := kubeapi.PatchFrom(k.p, k.c, "", d, changed); err != nil {
		return nil, err
	}
	return []string{"deployment.apps/" + name + " image updated"}, nil
}

func last(s []string) string { return s[len(s)-1] }
