package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
)

func amounts(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func TestLimitRangesFillInWhatContainersLeaveOpen(t *testing.T) {
	c := apitest.New(t)
	c.Create(&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypeContainer, Default: amounts("cpu", "1", "memory", "1Gi"), DefaultRequest: amounts("cpu", "100m", "memory", "1Gi")}}}})
	pod := c.Create(apitest.Pod("p", func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "busybox"}}
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts("cpu", "250m")}
	})).(*corev1.Pod)
	want := "LimitRanger plugin set: memory request for container c; cpu, memory limit for container c; cpu, memory request for init container i; cpu, memory limit for init container i"
	if got := pod.Annotations["kubernetes.io/limit-ranger"]; got != want {
		t.Errorf("annotation\n%s\nwant\n%s", got, want)
	}
	r := pod.Spec.Containers[0].Resources
	if r.Requests.Cpu().String() != "250m" || r.Limits.Cpu().String() != "1" || r.Limits.Memory().String() != "1Gi" {
		t.Errorf("resources %v", r)
	}
}

func TestLimitRangesRefuseInTheWordsOfARealServer(t *testing.T) {
	item := func(typ corev1.LimitType, least, most, ratio corev1.ResourceList) corev1.LimitRangeItem {
		return corev1.LimitRangeItem{Type: typ, Min: least, Max: most, MaxLimitRequestRatio: ratio}
	}
	pod := func(requests, limits corev1.ResourceList) *corev1.Pod {
		return apitest.Pod("p", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
		})
	}
	for _, tc := range []struct {
		name string
		item corev1.LimitRangeItem
		pod  *corev1.Pod
		want string
	}{
		{"less than the least", item("Container", amounts("cpu", "200m"), nil, nil), pod(amounts("cpu", "100m"), nil), `minimum cpu usage per Container is 200m, but request is 100m`},
		{"nothing where there is a least", item("Pod", amounts("cpu", "200m"), nil, nil), pod(nil, nil), `minimum cpu usage per Pod is 200m.  No request is specified`},
		{"no limit where there is a most", item("Pod", nil, amounts("cpu", "2"), nil), pod(amounts("cpu", "1"), nil), `maximum cpu usage per Pod is 2.  No limit is specified`},
		{"two errors", item("Container", nil, amounts("cpu", "1", "memory", "1Gi"), nil), pod(nil, amounts("cpu", "2", "memory", "2Gi")),
			`[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]`},
		{"too wide", item("Container", nil, nil, amounts("cpu", "2")), pod(amounts("cpu", "100m"), amounts("cpu", "500m")), `cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000`},
		{"within", item("Container", amounts("cpu", "100m"), amounts("cpu", "1"), amounts("cpu", "2")), pod(amounts("cpu", "500m"), amounts("cpu", "1")), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := apitest.New(t)
			c.Create(&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{tc.item}}})
			_, err := c.TryCreate(tc.pod)
			if tc.want != "" {
				tc.want = `pods "p" is forbidden: ` + tc.want
			}
			refusedAs(t, err, tc.want)
		})
	}
}

func TestLimitRangesBoundClaims(t *testing.T) {
	c := apitest.New(t)
	c.Create(&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypePersistentVolumeClaim, Min: amounts("storage", "1Gi"), Max: amounts("storage", "2Gi")}}}})
	_, err := c.TryCreate(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "big"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{Requests: amounts("storage", "3Gi")}}})
	refusedAs(t, err, `persistentvolumeclaims "big" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`)
}
