package pods

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/volumes"
)

// validateVolumes checks the volumes of a pod and gives the good ones by name; meta is nil in templates.
func validateVolumes(list []corev1.Volume, meta *metav1.ObjectMeta, at *field.Path) (map[string]*corev1.VolumeSource, field.ErrorList) {
	var errs field.ErrorList
	good := map[string]*corev1.VolumeSource{}
	for i := range list {
		v, at := &list[i], at.Index(i)
		bad := volumes.OneSource(sources(v, meta, at), at)
		if v.Name == "" {
			bad = append(bad, field.Required(at.Child("name"), ""))
		} else {
			bad = append(bad, check.Label1123(v.Name, at.Child("name"))...)
		}
		if good[v.Name] != nil {
			bad = append(bad, field.Duplicate(at.Child("name"), v.Name))
		}
		if len(bad) == 0 {
			good[v.Name] = &v.VolumeSource
		}
		errs = append(errs, bad...)
		if c := v.PersistentVolumeClaim; c != nil && meta != nil && meta.Name != "" {
			made := slices.ContainsFunc(list, func(o corev1.Volume) bool { return o.Ephemeral != nil && meta.Name+"-"+o.Name == c.ClaimName })
			if made {
				errs = append(errs, field.Invalid(at.Child("persistentVolumeClaim", "claimName"), c.ClaimName, "must not reference a PVC that gets created for an ephemeral volume"))
			}
		}
	}
	return good, errs
}

// sources are the sources that a volume of a pod can have, in the order in which Kubernetes looks at them.
func sources(v *corev1.Volume, meta *metav1.ObjectMeta, at *field.Path) []volumes.Source {
	type list = field.ErrorList
	return []volumes.Source{
		{Set: v.EmptyDir != nil, Name: "emptyDir", Check: func() list {
			if q := v.EmptyDir.SizeLimit; q != nil && q.Sign() < 0 {
				return list{field.Forbidden(at.Child("emptyDir", "sizeLimit"), "SizeLimit field must be a valid resource quantity")}
			}
			return nil
		}},
		{Set: v.HostPath != nil, Name: "hostPath", Check: func() list { return volumes.HostPath(v.HostPath, at.Child("hostPath")) }},
		{Set: v.GitRepo != nil, Name: "gitRepo", Check: func() list { return volumes.GitRepo(v.GitRepo, at.Child("gitRepo")) }},
		{Set: v.GCEPersistentDisk != nil, Name: "gcePersistentDisk", Check: func() list { return volumes.GCEDisk(v.GCEPersistentDisk, at.Child("persistentDisk")) }},
		{Set: v.AWSElasticBlockStore != nil, Name: "awsElasticBlockStore", Check: func() list { return volumes.AWSDisk(v.AWSElasticBlockStore, at.Child("awsElasticBlockStore")) }},
		{Set: v.Secret != nil, Name: "secret", Check: func() list { return volumes.Secret(v.Secret, at.Child("secret")) }},
		{Set: v.NFS != nil, Name: "nfs", Check: func() list { return volumes.NFS(v.NFS, at.Child("nfs")) }},
		{Set: v.ISCSI != nil, Name: "iscsi", Check: func() list { return iscsi(v, at) }},
		{Set: v.Glusterfs != nil, Name: "glusterfs", Check: func() list { return volumes.Glusterfs(v.Glusterfs, at.Child("glusterfs")) }},
		{Set: v.Flocker != nil, Name: "flocker", Check: func() list { return volumes.Flocker(v.Flocker, at.Child("flocker")) }},
		{Set: v.PersistentVolumeClaim != nil, Name: "persistentVolumeClaim", Check: func() list {
			return check.Needed(v.PersistentVolumeClaim.ClaimName, at.Child("persistentVolumeClaim", "claimName"))
		}},
		{Set: v.RBD != nil, Name: "rbd", Check: func() list { return volumes.RBD(v.RBD.CephMonitors, v.RBD.RBDImage, at.Child("rbd")) }},
		{Set: v.Cinder != nil, Name: "cinder", Check: func() list {
			return append(check.Needed(v.Cinder.VolumeID, at.Child("cinder", "volumeID")), secretName(v.Cinder.SecretRef, at.Child("cinder", "secretRef"))...)
		}},
		{Set: v.CephFS != nil, Name: "cephFS", Check: func() list { return volumes.Monitors(v.CephFS.Monitors, at.Child("cephfs")) }},
		{Set: v.Quobyte != nil, Name: "quobyte", Check: func() list { return volumes.Quobyte(v.Quobyte, at.Child("quobyte")) }},
		{Set: v.DownwardAPI != nil, Name: "downwarAPI", Check: func() list { // sic
			at := at.Child("downwardAPI")
			errs := check.FileMode(v.DownwardAPI.DefaultMode, at.Child("defaultMode"))
			for i := range v.DownwardAPI.Items {
				errs = append(errs, downwardFile(&v.DownwardAPI.Items[i], at)...)
			}
			return errs
		}},
		{Set: v.FC != nil, Name: "fc", Check: func() list { return volumes.FC(v.FC, at.Child("fc")) }},
		{Set: v.FlexVolume != nil, Name: "flexVolume", Check: func() list {
			return volumes.FlexOptions(v.FlexVolume.Driver, v.FlexVolume.Options, at.Child("flexVolume"))
		}},
		{Set: v.ConfigMap != nil, Name: "configMap", Check: func() list { return volumes.ConfigMap(v.ConfigMap, at.Child("configMap")) }},
		{Set: v.AzureFile != nil, Name: "azureFile", Check: func() list {
			return volumes.AzureFile(v.AzureFile.SecretName, v.AzureFile.ShareName, at.Child("azureFile"))
		}},
		{Set: v.VsphereVolume != nil, Name: "vsphereVolume", Check: func() list { return check.Needed(v.VsphereVolume.VolumePath, at.Child("vsphereVolume", "volumePath")) }},
		{Set: v.PhotonPersistentDisk != nil, Name: "photonPersistentDisk", Check: func() list {
			return check.Needed(v.PhotonPersistentDisk.PdID, at.Child("photonPersistentDisk", "pdID"))
		}},
		{Set: v.PortworxVolume != nil, Name: "portworxVolume", Check: func() list { return check.Needed(v.PortworxVolume.VolumeID, at.Child("portworxVolume", "volumeID")) }},
		{Set: v.AzureDisk != nil, Name: "azureDisk", Check: func() list { return volumes.AzureDisk(v.AzureDisk, at.Child("azureDisk")) }},
		{Set: v.StorageOS != nil, Name: "storageos", Check: func() list {
			errs := volumes.StorageOS(v.StorageOS.VolumeName, v.StorageOS.VolumeNamespace, at.Child("storageos"))
			return append(errs, secretName(v.StorageOS.SecretRef, at.Child("storageos", "secretRef"))...)
		}},
		{Set: v.Projected != nil, Name: "projected", Check: func() list { return projected(v.Projected, at.Child("projected")) }},
		{Set: v.ScaleIO != nil, Name: "scaleIO", Check: func() list {
			return volumes.ScaleIO(v.ScaleIO.Gateway, v.ScaleIO.System, v.ScaleIO.VolumeName, at.Child("scaleIO"))
		}},
		{Set: v.CSI != nil, Name: "csi", Check: func() list {
			errs := volumes.CSIDriver(v.CSI.Driver, at.Child("csi", "driver"))
			if ref := v.CSI.NodePublishSecretRef; ref != nil {
				if errs = append(errs, secretName(ref, at.Child("csi", "nodePublishSecretRef"))...); ref.Name != "" {
					errs = append(errs, check.Texts(at.Child("csi", "name"), ref.Name, apivalidation.NameIsDNSSubdomain(ref.Name, false))...)
				}
			}
			return errs
		}},
		{Set: v.Ephemeral != nil, Name: "ephemeral", Check: func() list { return ephemeralVolume(v, meta, at) }},
		{Set: v.Image != nil, Name: "image", Check: func() list {
			return append(check.Needed(v.Image.Reference, at.Child("image", "reference")), pullPolicy(v.Image.PullPolicy, at.Child("image", "pullPolicy"))...)
		}},
	}
}

func secretName(ref *corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return check.Needed(ref.Name, at.Child("name"))
}

func iscsi(v *corev1.Volume, at *field.Path) field.ErrorList {
	const unknown = "must be valid format starting with iqn, eui, or naa"
	s, src := v.ISCSI, at.Child("iscsi")
	errs := check.Needed(s.TargetPortal, src.Child("targetPortal"))
	if s.IQN == "" {
		errs = append(errs, field.Required(src.Child("iqn"), ""))
	} else {
		errs = append(errs, volumes.ISCSIName(s.IQN, unknown, src.Child("iqn"))...)
	}
	errs = append(errs, volumes.ISCSILun(s.Lun, src)...)
	if (s.DiscoveryCHAPAuth || s.SessionCHAPAuth) && s.SecretRef == nil {
		errs = append(errs, field.Required(src.Child("secretRef"), ""))
	}
	if s.InitiatorName == nil {
		return errs
	}
	errs = append(errs, volumes.ISCSIName(*s.InitiatorName, unknown, src.Child("initiatorname"))...)
	if len(v.Name+":"+s.TargetPortal) > 64 {
		errs = append(errs, field.Invalid(at.Child("name"), v.Name, volumes.TooLongPortal))
	}
	return errs
}

// downwardFile checks a file with a field of the pod.
func downwardFile(f *corev1.DownwardAPIVolumeFile, at *field.Path) field.ErrorList {
	errs := check.Needed(f.Path, at.Child("path"))
	errs = append(errs, check.FilePath(f.Path, at.Child("path"))...)
	switch {
	case f.FieldRef != nil:
		errs = append(errs, validateFieldRef(f.FieldRef, fileFields, at.Child("fieldRef"))...)
		if f.ResourceFieldRef != nil {
			errs = append(errs, field.Invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case f.ResourceFieldRef != nil:
		errs = append(errs, validateResourceRef(f.ResourceFieldRef, true, at.Child("resourceFieldRef"))...)
	default:
		errs = append(errs, field.Required(at, "one of fieldRef and resourceFieldRef is required"))
	}
	return append(errs, check.FileMode(f.Mode, at.Child("mode"))...)
}

// Life of a token in a volume, in seconds.
const (
	tokenLifeMin = 10 * 60
	tokenLifeMax = 1 << 32
)

func projected(v *corev1.ProjectedVolumeSource, at *field.Path) field.ErrorList {
	errs := check.FileMode(v.DefaultMode, at.Child("defaultMode"))
	taken := map[string]bool{}
	claim := func(path string, shown string) {
		if path != "" && taken[path] {
			errs = append(errs, field.Invalid(at, shown, "conflicting duplicate paths"))
		}
		taken[path] = true
	}
	for i := range v.Sources {
		s, src := &v.Sources[i], at.Child("sources").Index(i)
		n := 0
		keys := func(set bool, kind, name string, items []corev1.KeyToPath) {
			if !set {
				return
			}
			n++
			errs = append(errs, check.Needed(name, src.Child(kind, "name"))...)
			for j := range items {
				errs = append(errs, volumes.Key(&items[j], src.Child(kind, "items").Index(j))...)
				claim(items[j].Path, name)
			}
		}
		if s.Secret != nil {
			keys(true, "secret", s.Secret.Name, s.Secret.Items)
		}
		if s.ConfigMap != nil {
			keys(true, "configMap", s.ConfigMap.Name, s.ConfigMap.Items)
		}
		if s.DownwardAPI != nil {
			n++
			for j := range s.DownwardAPI.Items {
				errs = append(errs, downwardFile(&s.DownwardAPI.Items[j], src.Child("downwardAPI"))...)
				claim(s.DownwardAPI.Items[j].Path, s.DownwardAPI.Items[j].Path)
			}
		}
		if t := s.ServiceAccountToken; t != nil {
			n++
			errs = append(errs, tokenSource(t, at, src.Child("serviceAccountToken"))...)
		}
		if b := s.ClusterTrustBundle; b != nil {
			n++
			errs = append(errs, bundleSource(b, src.Child("clusterTrustBundle"))...)
			claim(b.Path, b.Path)
		}
		if c := s.PodCertificate; c != nil {
			n++
			src, paths := src.Child("podCertificate"), 0
			errs = append(errs, check.SignerName(c.SignerName, src.Child("signerName"))...)
			for _, k := range slices.Sorted(maps.Keys(c.UserAnnotations)) {
				errs = append(errs, validation.IsDomainPrefixedKey(src.Child("userAnnotations"), strings.ToLower(k))...)
			}
			if apivalidation.ValidateAnnotationsSize(c.UserAnnotations) != nil {
				errs = append(errs, field.TooLong(src.Child("userAnnotations"), "", apivalidation.TotalAnnotationSizeLimitB))
			}
			errs = append(errs, check.OneOf(src.Child("keyType"), c.KeyType, "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")...)
			errs = append(errs, certificateLife(c, src.Child("maxExpirationSeconds"))...)
			for _, p := range []struct{ name, path string }{{"credentialBundlePath", c.CredentialBundlePath}, {"keyPath", c.KeyPath}, {"certificateChainPath", c.CertificateChainPath}} {
				if p.path != "" {
					paths++
					errs = append(errs, check.FilePath(p.path, src.Child(p.name))...)
					claim(p.path, p.path)
				}
			}
			if paths == 0 {
				errs = append(errs, field.Required(src, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))
			}
		}
		if n > 1 {
			errs = append(errs, field.Forbidden(src, "may not specify more than 1 volume type per source"))
		}
	}
	return errs
}

// tokenSource: of the path Kubernetes says where the volume is, not which of its sources.
func tokenSource(t *corev1.ServiceAccountTokenProjection, volume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	life := at.Child("expirationSeconds")
	switch s := t.ExpirationSeconds; {
	case s == nil:
		errs = append(errs, field.Required(life, ""))
	case *s < tokenLifeMin:
		errs = append(errs, field.Invalid(life, *s, "may not specify a duration less than 10 minutes"))
	case *s > tokenLifeMax:
		errs = append(errs, field.Invalid(life, *s, "may not specify a duration larger than 2^32 seconds"))
	}
	if t.Path == "" {
		return append(errs, field.Required(volume.Child("path"), ""))
	}
	return append(errs, check.FilePath(t.Path, volume.Child("path"))...)
}

func bundleSource(b *corev1.ClusterTrustBundleProjection, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case b.Name != nil && b.SignerName != nil:
		errs = append(errs, field.Invalid(at, check.GoForm(b), "only one of name and signerName may be used"))
	case b.Name != nil:
		if *b.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), "must be a valid object name"))
		}
		for _, text := range badBundleName(*b.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), *b.Name, "not a valid clustertrustbundlename: "+text))
		}
		if b.LabelSelector != nil {
			errs = append(errs, field.Invalid(at.Child("labelSelector"), b.LabelSelector, "labelSelector must be unset if name is specified"))
		}
	case b.SignerName != nil:
		if *b.SignerName == "" {
			errs = append(errs, field.Required(at.Child("signerName"), "must be a valid signer name"))
		}
		errs = append(errs, check.SignerName(*b.SignerName, at.Child("signerName"))...)
		errs = append(errs, check.LabelSelector(b.LabelSelector, false, at.Child("labelSelector"))...)
	default:
		errs = append(errs, field.Required(at, "either name or signerName must be specified"))
	}
	errs = append(errs, check.Needed(b.Path, at.Child("path"))...)
	return append(errs, check.FilePath(b.Path, at.Child("path"))...)
}

// badBundleName: a bundle of a signer has the signer's name, with colons for slashes, before its own.
func badBundleName(name string) []string {
	return apivalidation.NameIsDNSSubdomain(name[strings.LastIndexByte(name, ':')+1:], false)
}

// Life of a certificate in a volume, in seconds; that of Kubernetes' own signers is shorter.
const (
	certificateLifeMin           = 60 * 60
	certificateLifeMax           = 91 * 24 * 60 * 60
	certificateLifeMaxKubernetes = 24 * 60 * 60
)

func certificateLife(c *corev1.PodCertificateProjection, at *field.Path) field.ErrorList {
	if c.MaxExpirationSeconds == nil {
		return nil
	}
	n, longest := *c.MaxExpirationSeconds, int32(certificateLifeMax)
	if check.KubernetesSigner(c.SignerName) {
		longest = certificateLifeMaxKubernetes
	}
	switch {
	case n < certificateLifeMin:
		return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("if provided, maxExpirationSeconds must be >= %d", certificateLifeMin))}
	case n > longest:
		return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", longest))}
	}
	return nil
}

// ephemeralVolume checks the claim that is made for a pod.
func ephemeralVolume(v *corev1.Volume, meta *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	t, tmpl := v.Ephemeral.VolumeClaimTemplate, at.Child("ephemeral", "volumeClaimTemplate")
	if t == nil {
		return field.ErrorList{field.Required(tmpl, "")}
	}
	errs := apivalidation.ValidateAnnotations(t.Annotations, tmpl.Child("metadata", "annotations"))
	errs = append(errs, check.Labels(t.Labels, tmpl.Child("metadata", "labels"))...)
	errs = append(errs, onlyFields(t.ObjectMeta, []string{"Annotations", "Labels"}, "cannot be set", tmpl.Child("metadata"))...)
	errs = append(errs, volumes.Claim(&t.Spec, tmpl.Child("spec"), volumes.ClaimOptions{})...)
	if meta != nil && meta.Name != "" && v.Name != "" {
		claim := meta.Name + "-" + v.Name
		for _, text := range apivalidation.NameIsDNSSubdomain(claim, false) {
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, fmt.Sprintf("PVC name %q: %v", claim, text)))
		}
	}
	return errs
}
