package apiserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/engine/kinds"
)

// What the ServiceAccount plugin gives to pods (k/k plugin/pkg/admission/serviceaccount).
const (
	defaultAccount   = "default"
	tokenVolume      = "kube-api-access-" // and a suffix
	tokenMountPath   = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenSeconds     = int64(3607) // an hour and some: a kubelet renews at 80 % of it; those 7 seconds tell tokens of this plugin from others
	rootCAConfigMap  = "kube-root-ca.crt"
	enforceMountable = "kubernetes.io/enforce-mountable-secrets"
)

// How often, and after how long, the account "default" is looked for again: a controller makes it right after the namespace.
const (
	accountTries      = 10
	accountRetryLeast = 100 * time.Millisecond
)

// serviceAccount gives a pod the account it runs as, that account's token and its pull secrets, and refuses pods whose account does not exist.
func serviceAccount(a *attributes) error {
	pod, ok := a.obj.(*corev1.Pod)
	if !ok || !a.creates() {
		return nil
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return mirrorPodReferences(a, pod) // a kubelet wants its static pods unchanged
	}
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = defaultAccount
	}
	pod.Spec.DeprecatedServiceAccount = pod.Spec.ServiceAccountName // its other name
	account, err := a.account(pod.Namespace, pod.Spec.ServiceAccountName)
	if err != nil {
		return a.forbid("error looking up service account %s/%s: %w", pod.Namespace, pod.Spec.ServiceAccountName, err)
	}
	if mountsToken(account, pod) {
		a.mountToken(pod)
	}
	if len(pod.Spec.ImagePullSecrets) == 0 {
		pod.Spec.ImagePullSecrets = slices.Clone(account.ImagePullSecrets)
	}
	if enforced, _ := strconv.ParseBool(account.Annotations[enforceMountable]); enforced {
		if err := mountableSecrets(account, pod); err != nil {
			return a.forbid("%w", err)
		}
	}
	return nil
}

// account finds a service account, with patience for the one that comes by itself.
func (a *attributes) account(namespace, name string) (*corev1.ServiceAccount, error) {
	tries := 1
	if name == defaultAccount {
		tries = accountTries
	}
	var pause time.Duration
	for try := range tries {
		if try == 1 { // one draw, and only when there is something to wait for
			pause = accountRetryLeast + time.Duration(a.server.rng.Int64N(int64(accountRetryLeast)))
		}
		if try > 0 {
			a.proc.Sleep(pause)
		}
		account, found, err := fetched[*corev1.ServiceAccount](a, kinds.ServiceAccounts, namespace, name)
		if found || err != nil {
			return account, err
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)
}

// mountsToken: the pod's word goes before the account's.
func mountsToken(account *corev1.ServiceAccount, pod *corev1.Pod) bool {
	switch {
	case pod.Spec.AutomountServiceAccountToken != nil:
		return *pod.Spec.AutomountServiceAccountToken
	case account.AutomountServiceAccountToken != nil:
		return *account.AutomountServiceAccountToken
	}
	return true
}

// mountToken gives all containers the volume with the account's token, but for those that mount something of their own there.
func (a *attributes) mountToken(pod *corev1.Pod) {
	name, there := "", false
	for i := range pod.Spec.Volumes {
		if strings.HasPrefix(pod.Spec.Volumes[i].Name, tokenVolume) {
			name, there = pod.Spec.Volumes[i].Name, true
			break
		}
	}
	if name == "" {
		name = tokenVolume + a.server.nameSuffix()
	}
	needed := false
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == tokenMountPath }) {
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenMountPath})
				needed = true
			}
		}
	}
	if needed && !there {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: tokenSource()})
	}
}

func tokenSource() corev1.VolumeSource {
	mode, seconds := corev1.ProjectedVolumeSourceDefaultMode, tokenSeconds
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode, Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &seconds}},
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: rootCAConfigMap}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
	}}}
}

// mirrorPodReferences keeps static pods, which start without the API, from needing anything of it.
func mirrorPodReferences(a *attributes, pod *corev1.Pod) error {
	if pod.Spec.ServiceAccountName != "" {
		return a.forbid("a mirror pod may not reference service accounts")
	}
	if len(secretsOf(pod)) > 0 {
		return a.forbid("a mirror pod may not reference secrets")
	}
	for _, v := range pod.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, src := range v.Projected.Sources {
			if src.ServiceAccountToken != nil {
				return a.forbid("a mirror pod may not use ServiceAccountToken volume projections")
			}
		}
	}
	return nil
}

// secretsOf lists the names of the secrets that a pod needs.
func secretsOf(pod *corev1.Pod) map[string]bool {
	out := map[string]bool{}
	for _, s := range pod.Spec.ImagePullSecrets {
		out[s.Name] = true
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, from := range containers[i].EnvFrom {
				if from.SecretRef != nil {
					out[from.SecretRef.Name] = true
				}
			}
			for _, env := range containers[i].Env {
				if env.ValueFrom != nil && env.ValueFrom.SecretKeyRef != nil {
					out[env.ValueFrom.SecretKeyRef.Name] = true
				}
			}
		}
	}
	for i := range pod.Spec.Volumes {
		secretsOfVolume(&pod.Spec.Volumes[i].VolumeSource, out)
	}
	return out
}

func secretsOfVolume(v *corev1.VolumeSource, out map[string]bool) {
	ref := func(r *corev1.LocalObjectReference) {
		if r != nil {
			out[r.Name] = true
		}
	}
	switch {
	case v.Secret != nil:
		out[v.Secret.SecretName] = true
	case v.AzureFile != nil:
		out[v.AzureFile.SecretName] = true
	case v.CephFS != nil:
		ref(v.CephFS.SecretRef)
	case v.Cinder != nil:
		ref(v.Cinder.SecretRef)
	case v.FlexVolume != nil:
		ref(v.FlexVolume.SecretRef)
	case v.RBD != nil:
		ref(v.RBD.SecretRef)
	case v.ScaleIO != nil:
		ref(v.ScaleIO.SecretRef)
	case v.ISCSI != nil:
		ref(v.ISCSI.SecretRef)
	case v.StorageOS != nil:
		ref(v.StorageOS.SecretRef)
	case v.CSI != nil:
		ref(v.CSI.NodePublishSecretRef)
	case v.Projected != nil:
		for _, src := range v.Projected.Sources {
			if src.Secret != nil {
				out[src.Secret.Name] = true
			}
		}
	}
}

// mountableSecrets refuses secrets that an account with the (deprecated) annotation does not list.
func mountableSecrets(account *corev1.ServiceAccount, pod *corev1.Pod) error {
	mountable, pullable := map[string]bool{}, map[string]bool{}
	for _, s := range account.Secrets {
		mountable[s.Name] = true
	}
	for _, s := range account.ImagePullSecrets {
		pullable[s.Name] = true
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil && !mountable[v.Secret.SecretName] {
			return fmt.Errorf(`volume with secret.secretName="%s" is not allowed because service account %s does not reference that secret`, v.Secret.SecretName, account.Name)
		}
	}
	for _, group := range []struct {
		prefix     string
		containers []corev1.Container
	}{{"init container", pod.Spec.InitContainers}, {"container", pod.Spec.Containers}} {
		for _, c := range group.containers {
			for _, env := range c.Env {
				if env.ValueFrom != nil && env.ValueFrom.SecretKeyRef != nil && !mountable[env.ValueFrom.SecretKeyRef.Name] {
					return fmt.Errorf("%s %s with envVar %s referencing secret.secretName=%q is not allowed because service account %s does not reference that secret",
						group.prefix, c.Name, env.Name, env.ValueFrom.SecretKeyRef.Name, account.Name)
				}
			}
		}
	}
	for i, s := range pod.Spec.ImagePullSecrets {
		if !pullable[s.Name] {
			return fmt.Errorf(`imagePullSecrets[%d].name="%s" is not allowed because service account %s does not reference that imagePullSecret`, i, s.Name, account.Name)
		}
	}
	return nil
}
