package kubectl

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// remove deletes one object; --cascade=foreground|orphan|background, --grace-period, --force.
func remove(k *call) ([]string, error) {
	kind, name, err := k.subject()
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, errors.New("error: resource(s) were provided, but no name was specified")
	}
	o := &metav1.DeleteOptions{}
	switch k.flags["cascade"] {
	case "", "background", "true":
		o.PropagationPolicy = policy(metav1.DeletePropagationBackground)
	case "foreground":
		o.PropagationPolicy = policy(metav1.DeletePropagationForeground)
	case "orphan", "false":
		o.PropagationPolicy = policy(metav1.DeletePropagationOrphan)
	default:
		return nil, fmt.Errorf("error: invalid cascade value (%s). Must be \"background\", \"foreground\", or \"orphan\"", k.flags["cascade"])
	}
	grace, err := k.number("grace-period", -1)
	if err != nil {
		return nil, err
	}
	force := k.flags["force"] == "true"
	if force && grace < 0 {
		grace = 0
	}
	if grace >= 0 {
		seconds := int64(grace)
		o.GracePeriodSeconds = &seconds
	}
	if err := kubeapi.Remove(k.p, k.c, kind, k.scope(kind), name, o); err != nil {
		return nil, err
	}
	line := fmt.Sprintf("%s %q deleted", kind.Singular, name)
	if kind.Group != "" {
		line = fmt.Sprintf("%s.%s %q deleted", kind.Singular, kind.Group, name)
	}
	if force && grace == 0 {
		line = strings.Replace(line, "deleted", "force deleted", 1)
	}
	if kind.Namespaced {
		line += " from " + k.namespace() + " namespace"
	}
	return []string{line}, nil
}

func policy(p metav1.DeletionPropagation) *metav1.DeletionPropagation { return &p }

func cordon(on bool) func(*call) ([]string, error) {
	return func(k *call) ([]string, error) {
		name := strings.TrimPrefix(first(k.args), "node/")
		if name == "" {
			return nil, errors.New("error: USAGE: cordon NODE")
		}
		word := map[bool]string{true: "cordoned", false: "uncordoned"}[on]
		n, err := kubeapi.Fetch[*corev1.Node](k.p, k.c, kinds.Nodes, "", name)
		if err != nil {
			return nil, err
		}
		if n.Spec.Unschedulable == on {
			return []string{"node/" + name + " already " + word}, nil
		}
		data := `{"spec":{"unschedulable":null}}`
		if on {
			data = `{"spec":{"unschedulable":true}}`
		}
		if err := k.patch(kinds.Nodes, name, types.StrategicMergePatchType, data); err != nil {
			return nil, err
		}
		return []string{"node/" + name + " " + word}, nil
	}
}

// Apply creates the objects of YAML documents, in order; those that exist are updated to what the document says (merge of the whole object).
func Apply(p *sim.Proc, c *kubeapi.Client, text string) ([]string, error) {
	var out []string
	for i, doc := range strings.Split("\n"+text, "\n---") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		obj, kind, err := decode([]byte(doc))
		if err != nil {
			return out, fmt.Errorf("document %d: %w", i+1, err)
		}
		if kind.Namespaced && obj.GetNamespace() == "" {
			obj.SetNamespace(metav1.NamespaceDefault)
		}
		word := "created"
		_, err = kubeapi.Make(p, c, obj)
		if apierrors.IsAlreadyExists(err) {
			word = "configured"
			data, jerr := yaml.YAMLToJSON([]byte(doc))
			if jerr != nil {
				return out, fmt.Errorf("document %d: %w", i+1, jerr)
			}
			_, err = c.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(), PatchType: types.MergePatchType, Patch: data})
		}
		if err != nil {
			return out, words(err)
		}
		out = append(out, kind.String()+"/"+obj.GetName()+" "+word)
	}
	return out, nil
}

func decode(doc []byte) (kinds.Object, *kinds.Kind, error) {
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &meta); err != nil {
		return nil, nil, fmt.Errorf("not YAML: %w", err)
	}
	kind, err := kinds.ForGVK(meta.GroupVersionKind())
	if err != nil {
		return nil, nil, fmt.Errorf("no matches for kind %q in version %q", meta.Kind, meta.APIVersion)
	}
	obj := kind.New()
	if err := yaml.UnmarshalStrict(doc, obj); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", meta.Kind, err)
	}
	return obj, kind, nil
}
