package apiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/engine/kinds"
)

// clearType drops apiVersion and kind: within the model an object's Go type says what it is.
func clearType(obj kinds.Object) { obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) }

// keepMeta puts back the metadata that no update may change.
func keepMeta(obj, old metav1.Object) {
	obj.SetCreationTimestamp(old.GetCreationTimestamp())
	obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	obj.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	obj.SetGeneration(old.GetGeneration())
	obj.SetSelfLink(old.GetSelfLink())
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	if obj.GetGenerateName() == "" {
		obj.SetGenerateName(old.GetGenerateName())
	}
}
