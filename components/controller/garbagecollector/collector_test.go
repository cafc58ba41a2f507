package garbagecollector_test

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// wheels is a kind that a definition adds.
var wheels = kinds.Defined("shop.example.com", "v1", "Wheel", "wheels", true)

func definition() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "wheels.shop.example.com"}, Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "shop.example.com", Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "wheels", Kind: "Wheel"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}}}}}}
}

func wheel(name string) kinds.Object {
	o := kinds.NewCustom(wheels)
	o.Namespace, o.Name = "default", name
	return o
}

func configMap(name string) kinds.Object {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

func job(name string) kinds.Object {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "busybox"}}}}}}
}

func owned(o kinds.Object, by kinds.Object, k *kinds.Kind) kinds.Object {
	block := true
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: k.APIVersion(), Kind: k.Kind, Name: by.GetName(), UID: by.GetUID(), BlockOwnerDeletion: &block}})
	return o
}

func TestAnyKindOwnsAnyOther(t *testing.T) {
	type kindOf struct {
		row  *kinds.Kind
		make func(name string) kinds.Object
	}
	maps, jobs, custom := kindOf{kinds.ConfigMaps, configMap}, kindOf{kinds.Jobs, job}, kindOf{wheels, wheel}
	for name, x := range map[string]struct{ owner, dependent kindOf }{
		"a job and its config map":           {jobs, maps},
		"a config map and a job":             {maps, jobs},
		"a custom object and its config map": {custom, maps},
		"a config map and a custom object":   {maps, custom},
		"two custom objects":                 {custom, custom},
	} {
		for policy, want := range map[metav1.DeletionPropagation][]string{
			metav1.DeletePropagationBackground: nil,
			metav1.DeletePropagationForeground: nil,
			metav1.DeletePropagationOrphan:     {"dependent"},
		} {
			t.Run(name+" "+string(policy), func(t *testing.T) {
				c := apitest.New(t)
				controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
				c.Create(definition())
				c.Run(40 * time.Second) // until the collector follows the new kind
				owner := c.Create(x.owner.make("owner"))
				c.Create(owned(x.dependent.make("dependent"), owner, x.owner.row))
				c.Run(time.Second)
				if err := c.Delete(x.owner.row, "default", "owner", &metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
					t.Fatal(err)
				}
				c.Run(10 * time.Second)
				if c.Get(x.owner.row, "default", "owner") != nil {
					t.Error("the owner is still there")
				}
				var left []string
				if o := c.Get(x.dependent.row, "default", "dependent"); o != nil {
					left = append(left, o.GetName())
					if len(o.GetOwnerReferences()) > 0 {
						t.Errorf("it still names %v", o.GetOwnerReferences())
					}
				}
				if !slices.Equal(left, want) {
					t.Errorf("left is %v, want %v", left, want)
				}
			})
		}
	}
}

// TestADependentOfAKindNotKnownYetWaitsForDiscovery: what is made in the half minute before the collector knows the owner's kind is neither lost nor left for ever.
func TestADependentOfAKindNotKnownYetWaitsForDiscovery(t *testing.T) {
	c := apitest.New(t)
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(35 * time.Second)
	c.Create(definition())
	c.Run(3 * time.Second)
	kept := c.Create(wheel("kept"))
	gone := wheel("gone")
	gone.SetUID("00000000-0000-4000-8000-000000000000")
	c.Create(owned(configMap("of-kept"), kept, wheels))
	c.Create(owned(configMap("of-gone"), gone, wheels))
	c.Run(2 * time.Minute)
	if c.Get(kinds.ConfigMaps, "default", "of-kept") == nil {
		t.Error("the dependent of an owner that exists is gone")
	}
	if c.Get(kinds.ConfigMaps, "default", "of-gone") != nil {
		t.Error("the dependent of an owner that never existed is still there")
	}
}

func TestAKindThatIsDefinedNoLongerIsNotFollowed(t *testing.T) {
	c := apitest.New(t)
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Create(definition())
	c.Run(40 * time.Second)
	c.Create(wheel("w"))
	if err := c.Delete(kinds.CustomResourceDefinitions, "", "wheels.shop.example.com", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(2 * time.Minute)
	quiet := len(c.Failures())
	c.Run(5 * time.Minute)
	if more := c.Failures()[quiet:]; len(more) > 0 {
		t.Errorf("somebody still asks for the kind: %v", more)
	}
	c.Create(definition())
	c.Run(40 * time.Second)
	owner := c.Create(wheel("again"))
	c.Create(owned(configMap("dependent"), owner, wheels))
	c.Run(time.Second)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Remove(p, client, wheels, "default", "again", nil); err != nil {
			t.Error(err)
		}
	})
	c.Run(10 * time.Second)
	if c.Get(kinds.ConfigMaps, "default", "dependent") != nil {
		t.Error("the kind was defined again, and its objects' dependents are not collected")
	}
}
