package storageprotection_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/controller/storageprotection"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func start(t *testing.T) *apitest.Cluster {
	c := apitest.New(t)
	in := informers.New(c.Process("master-1", "controller-manager", apitest.ControllerManager))
	claims := storageprotection.NewClaims(c.Process("master-1", "claims", apitest.Controller("pvc-protection-controller")), in)
	volumes := storageprotection.NewVolumes(c.Process("master-1", "volumes", apitest.Controller("pv-protection-controller")), in)
	in.Start()
	c.Process("master-1", "starter", apitest.ControllerManager).Go("start", func(p *sim.Proc) {
		in.WaitSynced(p)
		claims.Start()
		volumes.Start()
	})
	c.Run(2 * time.Second)
	return c
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
}

func user(name, claim, node string) *corev1.Pod {
	return apitest.Pod(name, func(p *corev1.Pod) {
		p.Spec.NodeName = node
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	})
}

func TestAClaimGoesWhenNoPodOnANodeUsesIt(t *testing.T) {
	c := start(t)
	c.Nodes(1)
	for _, name := range []string{"free", "wanted", "used"} {
		if got := c.Create(claim(name)).GetFinalizers(); !slices.Equal(got, []string{storageprotection.ClaimFinalizer}) {
			t.Errorf("a new claim has the finalizers %v", got)
		}
	}
	c.Create(user("waiting", "wanted", ""))
	c.Create(user("running", "used", "worker-1"))
	for _, name := range []string{"free", "wanted", "used"} {
		if err := c.Delete(kinds.PersistentVolumeClaims, "default", name, nil); err != nil {
			t.Fatal(err)
		}
	}
	c.Run(5 * time.Second)
	for name, gone := range map[string]bool{"free": true, "wanted": true, "used": false} {
		if got := c.Get(kinds.PersistentVolumeClaims, "default", name); (got == nil) != gone {
			t.Errorf("claim %s is there: %v", name, got != nil)
		}
	}
	now := int64(0)
	if err := c.Delete(kinds.Pods, "default", "running", &metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	c.Run(5 * time.Second)
	if c.Get(kinds.PersistentVolumeClaims, "default", "used") != nil {
		t.Error("the claim stays though its pod has gone")
	}
}

func TestAVolumeGoesWhenItIsNotBound(t *testing.T) {
	c := start(t)
	for _, name := range []string{"free", "bound"} {
		got := c.Create(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}}})
		if !slices.Equal(got.GetFinalizers(), []string{storageprotection.VolumeFinalizer}) {
			t.Errorf("a new volume has the finalizers %v", got.GetFinalizers())
		}
	}
	phase := func(phase string) {
		if _, err := c.MergePatch(kinds.PersistentVolumes, "", "bound", "status", `{"status":{"phase":"`+phase+`"}}`); err != nil {
			t.Fatal(err)
		}
	}
	phase("Bound")
	for _, name := range []string{"free", "bound"} {
		if err := c.Delete(kinds.PersistentVolumes, "", name, nil); err != nil {
			t.Fatal(err)
		}
	}
	c.Run(5 * time.Second)
	if c.Get(kinds.PersistentVolumes, "", "free") != nil || c.Get(kinds.PersistentVolumes, "", "bound") == nil {
		t.Error("the free volume stays, or the bound one has gone")
	}
	phase("Released")
	c.Run(5 * time.Second)
	if c.Get(kinds.PersistentVolumes, "", "bound") != nil {
		t.Error("the volume stays though it is bound no more")
	}
}
