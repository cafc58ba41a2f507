package tainteviction

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestHowLongAPodMayStay(t *testing.T) {
	seconds := func(n int64) *int64 { return &n }
	unreachable := corev1.Taint{Key: "node.kubernetes.io/unreachable", Effect: "NoExecute"}
	outOfService := corev1.Taint{Key: "node.kubernetes.io/out-of-service", Value: "nodeshutdown", Effect: "NoExecute"}
	for300 := corev1.Toleration{Key: unreachable.Key, Operator: "Exists", Effect: "NoExecute", TolerationSeconds: seconds(300)}
	all := corev1.Toleration{Operator: "Exists"}
	for name, c := range map[string]struct {
		taints      []corev1.Taint
		tolerations []corev1.Toleration
		want        stay
	}{
		"the default five minutes":                      {[]corev1.Taint{unreachable}, []corev1.Toleration{for300}, stay{limit: 300 * time.Second}},
		"no toleration: at once":                        {[]corev1.Taint{unreachable}, nil, stay{untolerated: true}},
		"zero seconds: at once":                         {[]corev1.Taint{unreachable}, []corev1.Toleration{{Key: unreachable.Key, Operator: "Exists", TolerationSeconds: seconds(0)}}, stay{}},
		"negative seconds: at once":                     {[]corev1.Taint{unreachable}, []corev1.Toleration{{Key: unreachable.Key, Operator: "Exists", TolerationSeconds: seconds(-5)}}, stay{}},
		"a toleration without seconds: for ever":        {[]corev1.Taint{unreachable}, []corev1.Toleration{all}, stay{forever: true}},
		"the shortest of two":                           {[]corev1.Taint{unreachable, outOfService}, []corev1.Toleration{for300, {Key: outOfService.Key, Operator: "Exists", TolerationSeconds: seconds(60)}}, stay{limit: time.Minute}},
		"one of two taints not tolerated":               {[]corev1.Taint{unreachable, outOfService}, []corev1.Toleration{for300}, stay{untolerated: true}},
		"only the first toleration that matches counts": {[]corev1.Taint{unreachable}, []corev1.Toleration{all, for300}, stay{forever: true}},
		"another value does not match":                  {[]corev1.Taint{outOfService}, []corev1.Toleration{{Key: outOfService.Key, Operator: "Equal", Value: "x"}}, stay{untolerated: true}},
		"a toleration of NoSchedule does not help":      {[]corev1.Taint{unreachable}, []corev1.Toleration{{Key: unreachable.Key, Operator: "Exists", Effect: "NoSchedule"}}, stay{untolerated: true}},
		"an absurd number of seconds does not overflow": {[]corev1.Taint{unreachable}, []corev1.Toleration{{Key: unreachable.Key, Operator: "Exists", TolerationSeconds: seconds(1 << 62)}}, stay{limit: time.Duration(maxSeconds) * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := allowed(c.taints, c.tolerations); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
