package kubectl

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

const revisionAnnotation = "deployment.kubernetes.io/revision"

// undo puts the template of an earlier ReplicaSet back (fidelity DEP-6).
func undo(k *call) ([]string, error) {
	kind, name, err := k.subject()
	if err != nil {
		return nil, err
	}
	if kind != kinds.Deployments || name == "" {
		return nil, errors.New("error: write rollout undo deployment/NAME")
	}
	d, err := kubeapi.Fetch[*appsv1.Deployment](k.p, k.c, kind, k.namespace(), name)
	if err != nil {
		return nil, err
	}
	sets, _, err := kubeapi.FetchList[*appsv1.ReplicaSet](k.p, k.c, kinds.ReplicaSets, kubeapi.ListOptions{Namespace: k.namespace()})
	if err != nil {
		return nil, err
	}
	wanted, err := k.number("to-revision", 0)
	if err != nil {
		return nil, err
	}
	var newest, before *appsv1.ReplicaSet
	for _, rs := range sets {
		if !metav1.IsControlledBy(rs, d) {
			continue
		}
		if wanted > 0 && revision(rs) == int64(wanted) {
			before = rs
		}
		switch {
		case wanted > 0:
		case newest == nil || revision(rs) > revision(newest):
			newest, before = rs, newest
		case before == nil || revision(rs) > revision(before):
			before = rs
		}
	}
	if before == nil {
		if wanted > 0 {
			return nil, fmt.Errorf("error: unable to find specified revision %d in history", wanted)
		}
		return nil, fmt.Errorf("error: no rollout history found for deployment %q", name)
	}
	template := before.Spec.Template.DeepCopy()
	delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec/template", "value": template}})
	if err != nil {
		return nil, fmt.Errorf("encode template: %w", err)
	}
	if err := k.patch(kind, name, types.JSONPatchType, string(patch)); err != nil {
		return nil, err
	}
	return []string{"deployment.apps/" + name + " rolled back"}, nil
}

func revision(rs *appsv1.ReplicaSet) int64 {
	n, _ := strconv.ParseInt(rs.Annotations[revisionAnnotation], 10, 64)
	return n
}

func restart(k *call) ([]string, error) {
	kind, name, err := k.subject()
	if err != nil {
		return nil, err
	}
	if kind != kinds.Deployments || name == "" {
		return nil, errors.New("error: write rollout restart deployment/NAME")
	}
	err = k.patch(kind, name, types.StrategicMergePatchType, fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`,
		k.p.Now().Format(time.RFC3339)))
	if err != nil {
		return nil, err
	}
	return []string{"deployment.apps/" + name + " restarted"}, nil
}
