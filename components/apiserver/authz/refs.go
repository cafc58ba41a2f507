package authz

import (
	corev1 "k8s.io/api/core/v1"
)

// podRefs shows what a pod refers to, as (kind, name) in its namespace. A name may come more than once, always the same number of times for the same pod. A mirror pod refers to
// nothing: else a node could make a pod that opens secrets to it.
func podRefs(pod *corev1.Pod, see func(what referred, name string)) {
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return
	}
	visit := func(what referred, name string) {
		if name != "" {
			see(what, name)
		}
	}
	visit(serviceAccount, pod.Spec.ServiceAccountName)
	for i := range pod.Spec.ImagePullSecrets {
		visit(secret, pod.Spec.ImagePullSecrets[i].Name)
	}
	for i := range pod.Spec.InitContainers {
		envRefs(pod.Spec.InitContainers[i].EnvFrom, pod.Spec.InitContainers[i].Env, visit)
	}
	for i := range pod.Spec.Containers {
		envRefs(pod.Spec.Containers[i].EnvFrom, pod.Spec.Containers[i].Env, visit)
	}
	for i := range pod.Spec.EphemeralContainers {
		envRefs(pod.Spec.EphemeralContainers[i].EnvFrom, pod.Spec.EphemeralContainers[i].Env, visit)
	}
	for i := range pod.Spec.Volumes {
		volumeRefs(pod, &pod.Spec.Volumes[i], visit)
	}
}

func envRefs(from []corev1.EnvFromSource, env []corev1.EnvVar, visit func(referred, string)) {
	for i := range from {
		if s := from[i].SecretRef; s != nil {
			visit(secret, s.Name)
		}
		if m := from[i].ConfigMapRef; m != nil {
			visit(configMap, m.Name)
		}
	}
	for i := range env {
		if env[i].ValueFrom == nil {
			continue
		}
		if s := env[i].ValueFrom.SecretKeyRef; s != nil {
			visit(secret, s.Name)
		}
		if m := env[i].ValueFrom.ConfigMapKeyRef; m != nil {
			visit(configMap, m.Name)
		}
	}
}

func volumeRefs(pod *corev1.Pod, v *corev1.Volume, visit func(referred, string)) {
	local := func(r *corev1.LocalObjectReference) {
		if r != nil {
			visit(secret, r.Name)
		}
	}
	switch {
	case v.Secret != nil:
		visit(secret, v.Secret.SecretName)
	case v.ConfigMap != nil:
		visit(configMap, v.ConfigMap.Name)
	case v.Projected != nil:
		for i := range v.Projected.Sources {
			if s := v.Projected.Sources[i].Secret; s != nil {
				visit(secret, s.Name)
			}
			if m := v.Projected.Sources[i].ConfigMap; m != nil {
				visit(configMap, m.Name)
			}
		}
	case v.PersistentVolumeClaim != nil:
		visit(claim, v.PersistentVolumeClaim.ClaimName)
	case v.Ephemeral != nil:
		visit(claim, pod.Name+"-"+v.Name) // as component-helpers/storage/ephemeral names it
	case v.AzureFile != nil:
		visit(secret, v.AzureFile.SecretName)
	case v.CephFS != nil:
		local(v.CephFS.SecretRef)
	case v.Cinder != nil:
		local(v.Cinder.SecretRef)
	case v.FlexVolume != nil:
		local(v.FlexVolume.SecretRef)
	case v.RBD != nil:
		local(v.RBD.SecretRef)
	case v.ScaleIO != nil:
		local(v.ScaleIO.SecretRef)
	case v.ISCSI != nil:
		local(v.ISCSI.SecretRef)
	case v.StorageOS != nil:
		local(v.StorageOS.SecretRef)
	case v.CSI != nil:
		local(v.CSI.NodePublishSecretRef)
	}
}

// volumeSecrets shows the secrets that a volume needs on the node where it is mounted. A reference without a namespace means that of the volume's claim.
func volumeSecrets(pv *corev1.PersistentVolume, see func(namespace, name string)) {
	home := ""
	if pv.Spec.ClaimRef != nil {
		home = pv.Spec.ClaimRef.Namespace
	}
	visit := func(r *corev1.SecretReference) {
		if r == nil || r.Name == "" {
			return
		}
		if r.Namespace != "" {
			see(r.Namespace, r.Name)
		} else {
			see(home, r.Name)
		}
	}
	src := &pv.Spec.PersistentVolumeSource
	switch {
	case src.AzureFile != nil:
		r := corev1.SecretReference{Name: src.AzureFile.SecretName}
		if src.AzureFile.SecretNamespace != nil {
			r.Namespace = *src.AzureFile.SecretNamespace
		}
		visit(&r)
	case src.CephFS != nil:
		visit(src.CephFS.SecretRef)
	case src.Cinder != nil:
		visit(src.Cinder.SecretRef)
	case src.FlexVolume != nil:
		visit(src.FlexVolume.SecretRef)
	case src.RBD != nil:
		visit(src.RBD.SecretRef)
	case src.ScaleIO != nil:
		visit(src.ScaleIO.SecretRef)
	case src.ISCSI != nil:
		visit(src.ISCSI.SecretRef)
	case src.StorageOS != nil && src.StorageOS.SecretRef != nil:
		visit(&corev1.SecretReference{Namespace: src.StorageOS.SecretRef.Namespace, Name: src.StorageOS.SecretRef.Name})
	case src.CSI != nil:
		visit(src.CSI.NodePublishSecretRef)
		visit(src.CSI.NodeStageSecretRef)
		visit(src.CSI.NodeExpandSecretRef)
	}
}
