package apiserver_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// refusedAs checks the text of an answer; "" wants success.
func refusedAs(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("accepted, want %q", want)
	case err != nil && err.Error() != want:
		t.Errorf("says\n%s\nwant\n%s", err, want)
	}
}

func tokenMounts(pod *corev1.Pod) (volumes, mounts int) {
	for _, v := range pod.Spec.Volumes {
		if strings.HasPrefix(v.Name, "kube-api-access-") {
			volumes++
		}
	}
	for _, c := range append(append([]corev1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...) {
		for _, m := range c.VolumeMounts {
			if strings.HasPrefix(m.Name, "kube-api-access-") {
				mounts++
			}
		}
	}
	return volumes, mounts
}

func TestPodsGetTheTokenOfTheirServiceAccount(t *testing.T) {
	c := apitest.New(t)
	no, yes := false, true
	account := func(name string, automount *bool) {
		c.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}, AutomountServiceAccountToken: automount, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}})
	}
	account("robot", nil)
	account("shy", &no)
	as := func(name string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.ServiceAccountName = name } }
	automount := func(b *bool) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.AutomountServiceAccountToken = b }
	}
	for _, tc := range []struct {
		name            string
		change          []func(*corev1.Pod)
		volumes, mounts int
	}{
		{"robot", []func(*corev1.Pod){as("robot")}, 1, 1},
		{"an account that does not want it", []func(*corev1.Pod){as("shy")}, 0, 0},
		{"a pod that wants it all the same", []func(*corev1.Pod){as("shy"), automount(&yes)}, 1, 1},
		{"a pod that does not want it", []func(*corev1.Pod){as("robot"), automount(&no)}, 0, 0},
		{"a container with a mount of its own there", []func(*corev1.Pod){as("robot"), func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "busybox"}}
			p.Spec.Volumes = []corev1.Volume{{Name: "mine"}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "mine", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}}
		}}, 1, 1},
		{"a volume of that name that is there", []func(*corev1.Pod){as("robot"), func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{{Name: "kube-api-access-mine1"}} }}, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pod := c.Create(apitest.Pod("p-"+strings.ReplaceAll(tc.name, " ", "-"), tc.change...)).(*corev1.Pod)
			volumes, mounts := tokenMounts(pod)
			if volumes != tc.volumes || mounts != tc.mounts {
				t.Errorf("%d volumes and %d mounts, want %d and %d", volumes, mounts, tc.volumes, tc.mounts)
			}
			if len(pod.Spec.ImagePullSecrets) != 1 || pod.Spec.ImagePullSecrets[0].Name != "pull" {
				t.Errorf("pull secrets %v", pod.Spec.ImagePullSecrets)
			}
		})
	}
}

func TestMirrorPodsAreLeftAloneAndNeedNothing(t *testing.T) {
	c := apitest.New(t)
	mirror := func(change func(*corev1.Pod)) *corev1.Pod {
		return apitest.Pod("static", func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
			p.Spec.NodeName = "n"
		}, change)
	}
	for _, tc := range []struct {
		change func(*corev1.Pod)
		want   string
	}{
		{func(p *corev1.Pod) { p.Spec.ServiceAccountName = "default" }, `pods "static" is forbidden: a mirror pod may not reference service accounts`},
		{func(p *corev1.Pod) { p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "s"}} }, `pods "static" is forbidden: a mirror pod may not reference secrets`},
		{func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}}}}}}}
		}, `pods "static" is forbidden: a mirror pod may not use ServiceAccountToken volume projections`},
		{func(*corev1.Pod) {}, ""},
	} {
		stored, err := c.TryCreate(mirror(tc.change))
		refusedAs(t, err, tc.want)
		if err == nil && (stored.(*corev1.Pod).Spec.ServiceAccountName != "" || len(stored.(*corev1.Pod).Spec.Volumes) > 0) {
			t.Errorf("a mirror pod was changed: %+v", stored)
		}
	}
}

func TestAPodWaitsAMomentForTheAccountThatComesByItself(t *testing.T) {
	c := apitest.New(t)
	var created, refused error
	var took time.Duration
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if _, err := kubeapi.Make(p, client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}}); err != nil {
			t.Fatal(err)
		}
	})
	pod := func() *corev1.Pod { return apitest.Pod("a", func(p *corev1.Pod) { p.Namespace = "new" }) }
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		began := p.Now()
		_, refused = kubeapi.Make(p, client, pod())
		took = p.Now().Sub(began)
	})
	refusedAs(t, refused, `pods "a" is forbidden: error looking up service account new/default: serviceaccount "default" not found`)
	if took < 900*time.Millisecond || took > 2*time.Second {
		t.Errorf("the account was waited for %v", took)
	}
	c.Loop.After(500*time.Millisecond, func() {
		c.Process("workstation", "late", apitest.Admin).Go("account", func(p *sim.Proc) {
			sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "new", Name: "default"}}
			if _, err := kubeapi.Make(p, c.Client, sa); err != nil {
				t.Error(err)
			}
		})
	})
	c.Do(func(p *sim.Proc, client *kubeapi.Client) { _, created = kubeapi.Make(p, client, pod()) })
	refusedAs(t, created, "")
	if c.Get(kinds.Pods, "new", "a") == nil {
		t.Error("no pod")
	}
}

func TestAnAccountMayKeepPodsFromSecretsItDoesNotList(t *testing.T) {
	c := apitest.New(t)
	c.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "strict", Annotations: map[string]string{"kubernetes.io/enforce-mountable-secrets": "true"}}, Secrets: []corev1.ObjectReference{{Name: "mine"}}})
	with := func(secret string) *corev1.Pod {
		return apitest.Pod("p-"+secret, func(p *corev1.Pod) {
			p.Spec.ServiceAccountName = "strict"
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}}
		})
	}
	_, err := c.TryCreate(with("mine"))
	refusedAs(t, err, "")
	_, err = c.TryCreate(with("theirs"))
	refusedAs(t, err, `pods "p-theirs" is forbidden: volume with secret.secretName="theirs" is not allowed because service account strict does not reference that secret`)
}
