package apiserver

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/kubeviz/engine/kinds"
)

// The annotations that mark the storage class of claims that name none; the second is from before the first.
const (
	defaultClassKey     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClassKey = "storageclass.beta.kubernetes.io/is-default-class"
)

// defaultStorageClass gives a claim that asks for no class the cluster's default, if there is one (k/k plugin/pkg/admission/storage/storageclass/setdefault). A claim that asks for the
// class "" wants none.
func defaultStorageClass(a *attributes) error {
	claim, ok := a.obj.(*corev1.PersistentVolumeClaim)
	if !ok || !a.creates() || claim.Spec.StorageClassName != nil {
		return nil
	}
	if _, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return nil
	}
	var newest *storagev1.StorageClass // of several, and of those as old the first by name
	eachSeen(a, kinds.StorageClasses, "", func(c *storagev1.StorageClass) bool {
		marked := c.Annotations[defaultClassKey] == "true" || c.Annotations[betaDefaultClassKey] == "true"
		if marked && (newest == nil || newest.CreationTimestamp.Before(&c.CreationTimestamp)) {
			newest = c
		}
		return true
	})
	if newest != nil {
		name := newest.Name
		claim.Spec.StorageClassName = &name
	}
	return nil
}

// resizableClaim lets a claim grow only when it is bound to a volume of a class that allows it (k/k plugin/pkg/admission/storage/persistentvolume/resize).
func resizableClaim(a *attributes) error {
	claim, ok := a.obj.(*corev1.PersistentVolumeClaim)
	if !ok || a.rq.Subresource != "" {
		return nil
	}
	old, ok := a.old.(*corev1.PersistentVolumeClaim)
	if !ok {
		return nil
	}
	have, want := old.Spec.Resources.Requests[corev1.ResourceStorage], claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if want.Cmp(have) <= 0 {
		return nil
	}
	if old.Status.Phase != corev1.ClaimBound {
		return a.forbid("Only bound persistent volume claims can be expanded")
	}
	if name := classOf(claim); name != "" {
		if class, ok := seen[*storagev1.StorageClass](a, kinds.StorageClasses, "", name); ok && class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion {
			return nil
		}
	}
	return a.forbid("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
}

func classOf(claim *corev1.PersistentVolumeClaim) string {
	if name, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	if claim.Spec.StorageClassName != nil {
		return *claim.Spec.StorageClassName
	}
	return ""
}

// The finalizers that keep what is in use (k/k plugin/pkg/admission/storage/storageobjectinuseprotection); controllers take them off.
const (
	claimProtection  = "kubernetes.io/pvc-protection"
	volumeProtection = "kubernetes.io/pv-protection"
)

// protectStorage keeps new claims and volumes from going away while they are used.
func protectStorage(a *attributes) error {
	if !a.creates() {
		return nil
	}
	finalizer := ""
	switch a.obj.(type) {
	case *corev1.PersistentVolumeClaim:
		finalizer = claimProtection
	case *corev1.PersistentVolume:
		finalizer = volumeProtection
	default:
		return nil
	}
	if have := a.obj.GetFinalizers(); !slices.Contains(have, finalizer) {
		a.obj.SetFinalizers(append(have, finalizer))
	}
	return nil
}
