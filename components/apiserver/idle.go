package apiserver

import (
	"fmt"

	"example.com/kubeviz/engine/kinds"
)

// idle are the kinds of which a real cluster makes something and this one does not: whoever creates one is told, rather than left to wait for what does not come.
var idle = map[*kinds.Kind]bool{
	kinds.StatefulSets: true, kinds.DaemonSets: true, kinds.Jobs: true, kinds.CronJobs: true, kinds.ReplicationControllers: true, kinds.HorizontalPodAutoscalers: true,
	kinds.PersistentVolumeClaims: true, kinds.NetworkPolicies: true,
}

func idleWarning(k *kinds.Kind) string {
	return fmt.Sprintf("this cluster is simulated: %s are stored and checked, and nothing acts on them yet", k.Resource)
}
