package storage

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

func TestStorageClasses(t *testing.T) {
	res := storageClassResource()
	c := &storagev1.StorageClass{Provisioner: "example.org/p"}
	res.Default(c)
	if *c.ReclaimPolicy != corev1.PersistentVolumeReclaimDelete || *c.VolumeBindingMode != storagev1.VolumeBindingImmediate {
		t.Errorf("defaulted to %v", c)
	}
	if errs := res.Validate(c); len(errs) > 0 {
		t.Errorf("refused: %v", errs)
	}
	bad := c.DeepCopy()
	*bad.ReclaimPolicy, bad.Provisioner = "Recycle", ""
	if e := res.Validate(bad).ToAggregate(); e == nil || e.Error() != `[provisioner: Required value, reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"]` {
		t.Errorf("a bad class: %v", e)
	}
	if e := res.ValidateUpdate(bad, c, ""); len(e) != 2 || e[0].Detail != "field is immutable" {
		t.Errorf("a changed class: %v", e)
	}
}
