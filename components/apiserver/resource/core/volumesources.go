package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/volumes"
)

// Defaults of sources (k/k pkg/apis/core/v1/zz_generated.defaults).
const (
	defaultRBDPool = "rbd"
	defaultRBDUser = "admin"
	defaultKeyring = "/etc/ceph/keyring"
	defaultISCSI   = "default"
	defaultAzureFS = "ext4"
	defaultScaleIO = "ThinProvisioned"
	defaultScaleFS = "xfs"
)

func orElse(into *string, value string) {
	if *into == "" {
		*into = value
	}
}

// defaultSources fills what the sources of volumes may leave out.
func defaultSources(s *corev1.PersistentVolumeSource) {
	switch {
	case s.HostPath != nil:
		check.SetDefault(&s.HostPath.Type, corev1.HostPathUnset)
	case s.RBD != nil:
		orElse(&s.RBD.RBDPool, defaultRBDPool)
		orElse(&s.RBD.RadosUser, defaultRBDUser)
		orElse(&s.RBD.Keyring, defaultKeyring)
	case s.ISCSI != nil:
		orElse(&s.ISCSI.ISCSIInterface, defaultISCSI)
	case s.AzureDisk != nil:
		check.SetDefault(&s.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		check.SetDefault(&s.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
		check.SetDefault(&s.AzureDisk.FSType, defaultAzureFS)
		check.SetDefault(&s.AzureDisk.ReadOnly, false)
	case s.ScaleIO != nil:
		orElse(&s.ScaleIO.StorageMode, defaultScaleIO)
		orElse(&s.ScaleIO.FSType, defaultScaleFS)
	}
}

// volumeSources are the sources that a volume can have, in the order in which Kubernetes looks at them.
func volumeSources(s *corev1.PersistentVolumeSpec, name string, at *field.Path) []volumes.Source {
	return []volumes.Source{
		{Set: s.HostPath != nil, Name: "hostPath", Check: func() field.ErrorList { return volumes.HostPath(s.HostPath, at.Child("hostPath")) }},
		{Set: s.GCEPersistentDisk != nil, Name: "gcePersistentDisk", Check: func() field.ErrorList { return volumes.GCEDisk(s.GCEPersistentDisk, at.Child("persistentDisk")) }},
		{Set: s.AWSElasticBlockStore != nil, Name: "awsElasticBlockStore", Check: func() field.ErrorList {
			return volumes.AWSDisk(s.AWSElasticBlockStore, at.Child("awsElasticBlockStore"))
		}},
		{Set: s.Glusterfs != nil, Name: "glusterfs", Check: func() field.ErrorList { return glusterfs(s.Glusterfs, at.Child("glusterfs")) }},
		{Set: s.Flocker != nil, Name: "flocker", Check: func() field.ErrorList { return volumes.Flocker(s.Flocker, at.Child("flocker")) }},
		{Set: s.NFS != nil, Name: "nfs", Check: func() field.ErrorList { return volumes.NFS(s.NFS, at.Child("nfs")) }},
		{Set: s.RBD != nil, Name: "rbd", Check: func() field.ErrorList { return volumes.RBD(s.RBD.CephMonitors, s.RBD.RBDImage, at.Child("rbd")) }},
		{Set: s.Quobyte != nil, Name: "quobyte", Check: func() field.ErrorList { return volumes.Quobyte(s.Quobyte, at.Child("quobyte")) }},
		{Set: s.CephFS != nil, Name: "cephFS", Check: func() field.ErrorList { return volumes.Monitors(s.CephFS.Monitors, at.Child("cephfs")) }},
		{Set: s.ISCSI != nil, Name: "iscsi", Check: func() field.ErrorList { return iscsi(s.ISCSI, name, at.Child("iscsi")) }},
		{Set: s.Cinder != nil, Name: "cinder", Check: func() field.ErrorList {
			return append(check.Needed(s.Cinder.VolumeID, at.Child("cinder", "volumeID")), reference(s.Cinder.SecretRef, at.Child("cinder", "secretRef"))...)
		}},
		{Set: s.FC != nil, Name: "fc", Check: func() field.ErrorList { return volumes.FC(s.FC, at.Child("fc")) }},
		{Set: s.FlexVolume != nil, Name: "flexVolume", Check: func() field.ErrorList {
			return volumes.FlexOptions(s.FlexVolume.Driver, s.FlexVolume.Options, at.Child("flexVolume"))
		}},
		{Set: s.AzureFile != nil, Name: "azureFile", Check: func() field.ErrorList {
			errs := volumes.AzureFile(s.AzureFile.SecretName, s.AzureFile.ShareName, at.Child("azureFile"))
			if ns := s.AzureFile.SecretNamespace; ns != nil {
				errs = append(errs, check.Needed(*ns, at.Child("azureFile", "secretNamespace"))...)
			}
			return errs
		}},
		{Set: s.VsphereVolume != nil, Name: "vsphereVolume", Check: func() field.ErrorList {
			return check.Needed(s.VsphereVolume.VolumePath, at.Child("vsphereVolume", "volumePath"))
		}},
		{Set: s.PhotonPersistentDisk != nil, Name: "photonPersistentDisk", Check: func() field.ErrorList {
			return check.Needed(s.PhotonPersistentDisk.PdID, at.Child("photonPersistentDisk", "pdID"))
		}},
		{Set: s.PortworxVolume != nil, Name: "portworxVolume", Check: func() field.ErrorList {
			return check.Needed(s.PortworxVolume.VolumeID, at.Child("portworxVolume", "volumeID"))
		}},
		{Set: s.AzureDisk != nil, Name: "azureDisk", Check: func() field.ErrorList { return volumes.AzureDisk(s.AzureDisk, at.Child("azureDisk")) }},
		{Set: s.ScaleIO != nil, Name: "scaleIO", Check: func() field.ErrorList {
			return volumes.ScaleIO(s.ScaleIO.Gateway, s.ScaleIO.System, s.ScaleIO.VolumeName, at.Child("scaleIO"))
		}},
		{Set: s.Local != nil, Name: "local", Check: func() field.ErrorList { return local(s, at) }},
		{Set: s.StorageOS != nil, Name: "storageos", Check: func() field.ErrorList {
			errs := volumes.StorageOS(s.StorageOS.VolumeName, s.StorageOS.VolumeNamespace, at.Child("storageos"))
			if ref := s.StorageOS.SecretRef; ref != nil {
				errs = append(errs, reference(&corev1.SecretReference{Name: ref.Name, Namespace: ref.Namespace}, at.Child("storageos", "secretRef"))...)
			}
			return errs
		}},
		{Set: s.CSI != nil, Name: "csi", Check: func() field.ErrorList { return csi(s.CSI, at.Child("csi")) }},
	}
}

// reference asks for both parts of a reference to a secret.
func reference(ref *corev1.SecretReference, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return append(check.Needed(ref.Name, at.Child("name")), check.Needed(ref.Namespace, at.Child("namespace"))...)
}

func glusterfs(v *corev1.GlusterfsPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := append(check.Needed(v.EndpointsName, at.Child("endpoints")), check.Needed(v.Path, at.Child("path"))...)
	ns := v.EndpointsNamespace
	switch at := at.Child("endpointsNamespace"); {
	case ns == nil:
	case *ns == "":
		errs = append(errs, field.Invalid(at, *ns, "if the endpointnamespace is set, it must be a valid namespace name"))
	default:
		errs = append(errs, check.Texts(at, *ns, apivalidation.ValidateNamespaceName(*ns, false))...)
	}
	return errs
}

func iscsi(v *corev1.ISCSIPersistentVolumeSource, name string, at *field.Path) field.ErrorList {
	const bad = "must be valid format"
	errs := check.Needed(v.TargetPortal, at.Child("targetPortal"))
	if v.InitiatorName != nil && len(name+":"+v.TargetPortal) > 64 {
		errs = append(errs, field.Invalid(at.Child("targetportal"), v.TargetPortal, volumes.TooLongPortal))
	}
	if v.IQN == "" {
		errs = append(errs, field.Required(at.Child("iqn"), ""))
	} else {
		errs = append(errs, volumes.ISCSIName(v.IQN, bad, at.Child("iqn"))...)
	}
	errs = append(errs, volumes.ISCSILun(v.Lun, at)...)
	if (v.DiscoveryCHAPAuth || v.SessionCHAPAuth) && v.SecretRef == nil {
		errs = append(errs, field.Required(at.Child("secretRef"), ""))
	}
	if v.SecretRef != nil {
		errs = append(errs, check.Needed(v.SecretRef.Name, at.Child("secretRef", "name"))...)
	}
	if v.InitiatorName != nil {
		errs = append(errs, volumes.ISCSIName(*v.InitiatorName, bad, at.Child("initiatorname"))...)
	}
	return errs
}

func local(s *corev1.PersistentVolumeSpec, at *field.Path) field.ErrorList {
	errs := check.Needed(s.Local.Path, at.Child("local", "path"))
	if s.Local.Path != "" {
		errs = append(errs, check.PathWithoutBacksteps(s.Local.Path, at.Child("local", "path"))...)
	}
	if s.NodeAffinity == nil {
		errs = append(errs, field.Required(at.Child("nodeAffinity"), "Local volume requires node affinity"))
	}
	return errs
}

func csi(v *corev1.CSIPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := volumes.CSIDriver(v.Driver, at.Child("driver"))
	errs = append(errs, check.Needed(v.VolumeHandle, at.Child("volumeHandle"))...)
	for _, r := range []struct {
		ref  *corev1.SecretReference
		name string
	}{{v.ControllerPublishSecretRef, "controllerPublishSecretRef"}, {v.ControllerExpandSecretRef, "controllerExpandSecretRef"},
		{v.NodePublishSecretRef, "nodePublishSecretRef"}, {v.NodeExpandSecretRef, "nodeExpandSecretRef"}} {
		if r.ref == nil {
			continue
		}
		at := at.Child(r.name)
		if errs = append(errs, check.Needed(r.ref.Name, at.Child("name"))...); r.ref.Name != "" {
			errs = append(errs, check.Subdomain(r.ref.Name, at.Child("name"))...)
		}
		if errs = append(errs, check.Needed(r.ref.Namespace, at.Child("namespace"))...); r.ref.Namespace != "" {
			errs = append(errs, check.Label1123(r.ref.Namespace, at.Child("namespace"))...)
		}
	}
	return errs
}
