package apiserver_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/engine/kinds"
)

func TestClaimsGetTheDefaultStorageClassAndGrowOnlyWhereItAllows(t *testing.T) {
	c := apitest.New(t)
	claim := func(name string, class *string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: class,
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{Requests: amounts("storage", "1Gi")}}}
	}
	class := func(name, isDefault string, grows *bool) {
		c.Create(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": isDefault}}, Provisioner: "example.org/p", AllowVolumeExpansion: grows})
	}
	none, yes := "", true
	before := c.Create(claim("before", nil)).(*corev1.PersistentVolumeClaim)
	class("other", "false", nil)
	class("usual", "true", &yes)
	after := c.Create(claim("after", nil)).(*corev1.PersistentVolumeClaim)
	unclassed := c.Create(claim("none", &none)).(*corev1.PersistentVolumeClaim)
	if before.Spec.StorageClassName != nil || after.Spec.StorageClassName == nil || *after.Spec.StorageClassName != "usual" || *unclassed.Spec.StorageClassName != "" {
		t.Errorf("classes %v, %v, %v", before.Spec.StorageClassName, after.Spec.StorageClassName, unclassed.Spec.StorageClassName)
	}
	grow := func(name string) error {
		_, err := c.MergePatch(kinds.PersistentVolumeClaims, "default", name, "", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
		return err
	}
	for _, name := range []string{"after", "none"} {
		// Validation comes before the plugin that would say "Only bound persistent volume claims can be expanded", in Kubernetes too.
		if err := grow(name); err == nil || !strings.Contains(err.Error(), "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims") {
			t.Errorf("a pending claim that grows is answered %v", err)
		}
		if _, err := c.MergePatch(kinds.PersistentVolumeClaims, "default", name, "status", `{"status":{"phase":"Bound"}}`); err != nil {
			t.Fatal(err)
		}
	}
	refusedAs(t, grow("none"), `persistentvolumeclaims "none" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`)
	refusedAs(t, grow("after"), "")
}

func TestPodsGetWhatTheirRuntimeClassSays(t *testing.T) {
	c := apitest.New(t)
	c.Create(&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "vm"}, Handler: "vm", Overhead: &nodev1.Overhead{PodFixed: amounts("cpu", "100m")},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"vm": "yes"}, Tolerations: []corev1.Toleration{{Key: "vm", Operator: corev1.TolerationOpExists}}}})
	with := func(class string, change func(*corev1.Pod)) (*corev1.Pod, error) {
		obj, err := c.TryCreate(apitest.Pod("p", func(p *corev1.Pod) {
			if class != "" {
				p.Spec.RuntimeClassName = &class
			}
			change(p)
		}))
		pod, _ := obj.(*corev1.Pod)
		return pod, err
	}
	_, err := with("nope", func(*corev1.Pod) {})
	refusedAs(t, err, `pods "p" is forbidden: pod rejected: RuntimeClass "nope" not found`)
	_, err = with("", func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu", "1") })
	refusedAs(t, err, `pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`)
	_, err = with("vm", func(p *corev1.Pod) { p.Spec.Overhead = amounts("cpu", "1") })
	refusedAs(t, err, `pods "p" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`)
	_, err = with("vm", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"vm": "no"} })
	refusedAs(t, err, `pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no`)
	pod, err := with("vm", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	if err != nil {
		t.Fatal(err)
	}
	if pod.Spec.NodeSelector["vm"] != "yes" || pod.Spec.NodeSelector["disk"] != "ssd" || pod.Spec.Overhead.Cpu().String() != "100m" || len(pod.Spec.Tolerations) != 3 {
		t.Errorf("selector %v, overhead %v, tolerations %v", pod.Spec.NodeSelector, pod.Spec.Overhead, pod.Spec.Tolerations)
	}
}
