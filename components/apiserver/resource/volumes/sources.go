package volumes

import (
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// Source is one member of a union of volume sources: set or not, its name in errors about two of them, and what checks it.
type Source struct {
	Set   bool
	Name  string
	Check func() field.ErrorList
}

// OneSource checks that exactly one source is set, and that one.
func OneSource(list []Source, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	count := 0
	for i := range list {
		s := &list[i]
		if !s.Set {
			continue
		}
		if count++; count > 1 {
			errs = append(errs, field.Forbidden(at.Child(s.Name), "may not specify more than 1 volume type"))
			continue
		}
		errs = append(errs, s.Check()...)
	}
	if count == 0 {
		errs = append(errs, field.Required(at, "must specify a volume type"))
	}
	return errs
}

// needed is a text that must not be empty, by the name of its field.
type needed struct{ name, value string }

func need(at *field.Path, list ...needed) field.ErrorList {
	var errs field.ErrorList
	for _, n := range list {
		errs = append(errs, check.Needed(n.value, at.Child(n.name))...)
	}
	return errs
}

// hostPathTypes, sorted as errors list them.
var hostPathTypes = []corev1.HostPathType{corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate,
	corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket}

func HostPath(v *corev1.HostPathVolumeSource, at *field.Path) field.ErrorList {
	if v.Path == "" {
		return field.ErrorList{field.Required(at.Child("path"), "")}
	}
	errs := check.PathWithoutBacksteps(v.Path, at.Child("path"))
	if v.Type != nil {
		errs = append(errs, check.OneOf(at.Child("type"), *v.Type, hostPathTypes...)...)
	}
	return errs
}

func GitRepo(v *corev1.GitRepoVolumeSource, at *field.Path) field.ErrorList {
	return append(check.Needed(v.Repository, at.Child("repository")), check.DescendingPath(v.Directory, at.Child("directory"))...)
}

func GCEDisk(v *corev1.GCEPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	return append(check.Needed(v.PDName, at.Child("pdName")), partition(v.Partition, at)...)
}

func AWSDisk(v *corev1.AWSElasticBlockStoreVolumeSource, at *field.Path) field.ErrorList {
	return append(check.Needed(v.VolumeID, at.Child("volumeID")), partition(v.Partition, at)...)
}

func partition(n int32, at *field.Path) field.ErrorList {
	if n < 0 || n > 255 {
		return field.ErrorList{field.Invalid(at.Child("partition"), n, validation.InclusiveRangeError(1, 255))}
	}
	return nil
}

func Secret(v *corev1.SecretVolumeSource, at *field.Path) field.ErrorList {
	errs := check.Needed(v.SecretName, at.Child("secretName"))
	errs = append(errs, check.FileMode(v.DefaultMode, at.Child("defaultMode"))...)
	return append(errs, keys(v.Items, at.Child("items"))...)
}

func ConfigMap(v *corev1.ConfigMapVolumeSource, at *field.Path) field.ErrorList {
	errs := check.Needed(v.Name, at.Child("name"))
	errs = append(errs, check.FileMode(v.DefaultMode, at.Child("defaultMode"))...)
	return append(errs, keys(v.Items, at.Child("items"))...)
}

func keys(list []corev1.KeyToPath, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range list {
		errs = append(errs, Key(&list[i], at.Index(i))...)
	}
	return errs
}

// Key checks a key of an object that becomes a file.
func Key(k *corev1.KeyToPath, at *field.Path) field.ErrorList {
	errs := need(at, needed{"key", k.Key}, needed{"path", k.Path})
	errs = append(errs, check.FilePath(k.Path, at.Child("path"))...)
	return append(errs, check.FileMode(k.Mode, at.Child("mode"))...)
}

func NFS(v *corev1.NFSVolumeSource, at *field.Path) field.ErrorList {
	errs := need(at, needed{"server", v.Server}, needed{"path", v.Path})
	if !path.IsAbs(v.Path) {
		errs = append(errs, field.Invalid(at.Child("path"), v.Path, "must be an absolute path"))
	}
	return errs
}

func Quobyte(v *corev1.QuobyteVolumeSource, at *field.Path) field.ErrorList {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	var errs field.ErrorList
	switch {
	case v.Registry == "":
		errs = append(errs, field.Required(at.Child("registry"), pairs))
	case len(v.Tenant) >= 65:
		errs = append(errs, field.Required(at.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters"))
	default:
		for _, pair := range strings.Split(v.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(at.Child("registry"), v.Registry, pairs))
			}
		}
	}
	return append(errs, check.Needed(v.Volume, at.Child("volume"))...)
}

func Glusterfs(v *corev1.GlusterfsVolumeSource, at *field.Path) field.ErrorList {
	return need(at, needed{"endpoints", v.EndpointsName}, needed{"path", v.Path})
}

func Flocker(v *corev1.FlockerVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if v.DatasetName == "" && v.DatasetUUID == "" {
		errs = append(errs, field.Required(at, "one of datasetName and datasetUUID is required"))
	}
	if v.DatasetName != "" && v.DatasetUUID != "" {
		errs = append(errs, field.Invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(v.DatasetName, "/") {
		errs = append(errs, field.Invalid(at.Child("datasetName"), v.DatasetName, "must not contain '/'"))
	}
	return errs
}

func FC(v *corev1.FCVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	wwns, lun := at.Child("targetWWNs"), at.Child("lun")
	if len(v.TargetWWNs) == 0 && len(v.WWIDs) == 0 {
		errs = append(errs, field.Required(wwns, "must specify either targetWWNs or wwids, but not both"))
	}
	if len(v.TargetWWNs) != 0 && len(v.WWIDs) != 0 {
		errs = append(errs, field.Invalid(wwns, v.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously"))
	}
	switch {
	case len(v.TargetWWNs) == 0:
	case v.Lun == nil:
		errs = append(errs, field.Required(lun, "lun is required if targetWWNs is specified"))
	case *v.Lun < 0 || *v.Lun > 255:
		errs = append(errs, field.Invalid(lun, v.Lun, validation.InclusiveRangeError(0, 255)))
	}
	return errs
}

// FlexOptions checks the options of a driver from outside, which may not use Kubernetes' own names.
func FlexOptions(driver string, options map[string]string, at *field.Path) field.ErrorList {
	errs := check.Needed(driver, at.Child("driver"))
	for _, k := range sortedKeys(options) {
		prefix, _, _ := strings.Cut(k, "/")
		if p := "." + strings.ToLower(prefix); strings.HasSuffix(p, ".kubernetes.io") || strings.HasSuffix(p, ".k8s.io") {
			errs = append(errs, field.Invalid(at.Child("options").Key(k), k, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func AzureDisk(v *corev1.AzureDiskVolumeSource, at *field.Path) field.ErrorList {
	errs := need(at, needed{"diskName", v.DiskName}, needed{"diskURI", v.DataDiskURI})
	if v.CachingMode != nil {
		errs = append(errs, check.OneOf(at.Child("cachingMode"), *v.CachingMode, corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)...)
	}
	if v.Kind == nil {
		return errs
	}
	errs = append(errs, check.OneOf(at.Child("kind"), *v.Kind, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk)...)
	uri := at.Child("diskURI")
	if *v.Kind == corev1.AzureManagedDisk {
		if !strings.HasPrefix(v.DataDiskURI, "/subscriptions/") {
			errs = append(errs, check.NotSupported(uri, v.DataDiskURI, []string{"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"}))
		}
	} else if !strings.HasPrefix(v.DataDiskURI, "https://") {
		errs = append(errs, check.NotSupported(uri, v.DataDiskURI, []string{"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"}))
	}
	return errs
}

// AzureFile checks what both forms of this source have.
func AzureFile(secret, share string, at *field.Path) field.ErrorList {
	return need(at, needed{"secretName", secret}, needed{"shareName", share})
}

// RBD checks what both forms of this source have.
func RBD(monitors []string, image string, at *field.Path) field.ErrorList {
	return append(Monitors(monitors, at), check.Needed(image, at.Child("image"))...)
}

// Monitors checks the addresses of a Ceph cluster.
func Monitors(monitors []string, at *field.Path) field.ErrorList {
	if len(monitors) == 0 {
		return field.ErrorList{field.Required(at.Child("monitors"), "")}
	}
	return nil
}

// ScaleIO checks what both forms of this source have.
func ScaleIO(gateway, system, volume string, at *field.Path) field.ErrorList {
	return need(at, needed{"gateway", gateway}, needed{"system", system}, needed{"volumeName", volume})
}

// StorageOS checks what both forms of this source have.
func StorageOS(name, namespace string, at *field.Path) field.ErrorList {
	errs := check.Needed(name, at.Child("volumeName"))
	if name != "" {
		errs = append(errs, check.Label1123(name, at.Child("volumeName"))...)
	}
	if namespace != "" {
		errs = append(errs, check.Label1123(namespace, at.Child("volumeNamespace"))...)
	}
	return errs
}

// CSIDriver checks the name of a driver.
func CSIDriver(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return check.Needed(name, at)
	}
	var errs field.ErrorList
	if len(name) > 63 {
		errs = append(errs, field.TooLong(at, "", 63))
	}
	return append(errs, check.Texts(at, name, validation.IsDNS1123Subdomain(strings.ToLower(name)))...)
}

var (
	iqn = regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`)
	eui = regexp.MustCompile(`^eui.[[:alnum:]]{16}$`)
	naa = regexp.MustCompile(`^naa.[[:alnum:]]{32}$`)
)

// ISCSIName checks the name of a target or an initiator; unknown is what is said of names of no known kind.
func ISCSIName(name, unknown string, at *field.Path) field.ErrorList {
	for _, k := range []struct {
		prefix string
		form   *regexp.Regexp
	}{{"iqn", iqn}, {"eui", eui}, {"naa", naa}} {
		if strings.HasPrefix(name, k.prefix) {
			if !k.form.MatchString(name) {
				return field.ErrorList{field.Invalid(at, name, "must be valid format")}
			}
			return nil
		}
	}
	return field.ErrorList{field.Invalid(at, name, unknown)}
}

// ISCSILun checks the number of a unit.
func ISCSILun(n int32, at *field.Path) field.ErrorList {
	if n < 0 || n > 255 {
		return field.ErrorList{field.Invalid(at.Child("lun"), n, validation.InclusiveRangeError(0, 255))}
	}
	return nil
}

// TooLongPortal is said of an initiator's name that leaves no room.
const TooLongPortal = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
