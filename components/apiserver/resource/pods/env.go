package pods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

func validateEnv(list []corev1.EnvVar, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range list {
		e, at := &list[i], at.Index(i)
		if e.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, check.Texts(at.Child("name"), e.Name, validation.IsRelaxedEnvVarName(e.Name))...)
		}
		if e.ValueFrom != nil {
			errs = append(errs, validateValueFrom(e, at.Child("valueFrom"))...)
		}
	}
	return errs
}

func validateValueFrom(e *corev1.EnvVar, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	from, n := e.ValueFrom, 0
	if r := from.FieldRef; r != nil {
		n++
		errs = append(errs, validateFieldRef(r, envFields, at.Child("fieldRef"))...)
	}
	if r := from.ResourceFieldRef; r != nil {
		n++
		errs = append(errs, validateResourceRef(r, false, at.Child("resourceFieldRef"))...)
	}
	if r := from.ConfigMapKeyRef; r != nil {
		n++
		errs = append(errs, keyOf(r.Name, r.Key, at.Child("configMapKeyRef"))...)
	}
	if r := from.SecretKeyRef; r != nil {
		n++
		errs = append(errs, keyOf(r.Name, r.Key, at.Child("secretKeyRef"))...)
	}
	if r := from.FileKeyRef; r != nil {
		n++
		errs = append(errs, validateFileKey(r, at.Child("fileKeyRef"))...)
	}
	switch {
	case n == 0:
		errs = append(errs, field.Invalid(at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case e.Value != "":
		errs = append(errs, field.Invalid(at, "", "may not be specified when `value` is not empty"))
	case n > 1:
		errs = append(errs, field.Invalid(at, "", "may not have more than one field specified at a time"))
	}
	return errs
}

// keyOf checks a reference to a key of a ConfigMap or Secret.
func keyOf(name, key string, at *field.Path) field.ErrorList {
	errs := check.Texts(at.Child("name"), name, apivalidation.NameIsDNSSubdomain(name, false))
	if key == "" {
		return append(errs, field.Required(at.Child("key"), ""))
	}
	return append(errs, check.Texts(at.Child("key"), key, validation.IsConfigMapKey(key))...)
}

func validateFileKey(r *corev1.FileKeySelector, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Key == "" {
		errs = append(errs, field.Required(at.Child("key"), ""))
	} else {
		errs = append(errs, check.Texts(at.Child("key"), r.Key, validation.IsRelaxedEnvVarName(r.Key))...)
	}
	if r.VolumeName == "" {
		errs = append(errs, field.Required(at.Child("volumeName"), ""))
	} else {
		errs = append(errs, check.Label1123(r.VolumeName, at.Child("volumeName"))...)
	}
	if r.Path == "" {
		return append(errs, field.Required(at.Child("path"), ""))
	}
	return append(errs, check.PathWithoutBacksteps(r.Path, at.Child("path"))...)
}

func validateEnvFrom(list []corev1.EnvFromSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, e := range list {
		item := at.Index(i)
		if e.Prefix != "" {
			errs = append(errs, check.Texts(item.Child("prefix"), e.Prefix, validation.IsRelaxedEnvVarName(e.Prefix))...)
		}
		if r := e.ConfigMapRef; r != nil {
			errs = append(errs, named(r.Name, item.Child("configMapRef"))...)
		}
		if r := e.SecretRef; r != nil {
			errs = append(errs, named(r.Name, item.Child("secretRef"))...)
		}
		switch {
		case e.ConfigMapRef == nil && e.SecretRef == nil:
			errs = append(errs, field.Invalid(at, "", "must specify one of: `configMapRef` or `secretRef`"))
		case e.ConfigMapRef != nil && e.SecretRef != nil:
			errs = append(errs, field.Invalid(at, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

func named(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at.Child("name"), "")}
	}
	return check.Texts(at.Child("name"), name, apivalidation.NameIsDNSSubdomain(name, true)) // sic: as if something followed
}

// Fields of a pod that its containers can be told: podFields are known at all, envFields go into variables, fileFields into files.
var (
	podFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName",
		"spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
	envFields  = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
	fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}
)

// subscript splits a path with a key, metadata.labels['key'].
func subscript(path string) (field, key string, ok bool) {
	if !strings.HasSuffix(path, "']") {
		return path, "", false
	}
	field, key, ok = strings.Cut(strings.TrimSuffix(path, "']"), "['")
	if !ok || field == "" {
		return path, "", false
	}
	return field, key, true
}

func validateFieldRef(r *corev1.ObjectFieldSelector, known []string, at *field.Path) field.ErrorList {
	for _, f := range []struct{ name, value string }{{"apiVersion", r.APIVersion}, {"fieldPath", r.FieldPath}} {
		if f.value == "" {
			return field.ErrorList{field.Required(at.Child(f.name), "")}
		}
	}
	path, key, keyed := subscript(r.FieldPath)
	if path == "spec.host" && !keyed {
		path = "spec.nodeName" // the name of long ago
	}
	why := ""
	switch {
	case r.APIVersion != "v1":
		why = "unsupported pod version: " + r.APIVersion
	case keyed && path != "metadata.annotations" && path != "metadata.labels":
		why = fmt.Sprintf("field label does not support subscript: %s", r.FieldPath)
	case !keyed && !slices.Contains(podFields, path):
		why = "field label not supported: " + r.FieldPath
	}
	if why != "" {
		return field.ErrorList{field.Invalid(at.Child("fieldPath"), r.FieldPath, "error converting fieldPath: "+why)}
	}
	switch {
	case keyed && path == "metadata.annotations":
		return check.QualifiedName(strings.ToLower(key), at)
	case keyed:
		return check.QualifiedName(key, at)
	case !slices.Contains(known, path):
		return field.ErrorList{check.NotSupported(at.Child("fieldPath"), path, known)}
	}
	return nil
}

var resourceFields = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"}

// byteDivisors are the units in which bytes can be told.
var byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}

func validateResourceRef(r *corev1.ResourceFieldSelector, file bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	pages := strings.HasPrefix(r.Resource, "requests.hugepages-") || strings.HasPrefix(r.Resource, "limits.hugepages-")
	switch {
	case file && r.ContainerName == "":
		errs = append(errs, field.Required(at.Child("containerName"), ""))
	case r.Resource == "":
		errs = append(errs, field.Required(at.Child("resource"), ""))
	case !pages && !slices.Contains(resourceFields, r.Resource):
		errs = append(errs, check.NotSupported(at.Child("resource"), r.Resource, resourceFields))
	}
	if r.Divisor.Cmp(resource.Quantity{}) == 0 {
		return errs
	}
	refuse := func(units []string, text string) {
		if !slices.Contains(units, r.Divisor.String()) {
			errs = append(errs, field.Invalid(at.Child("divisor"), r.Resource, "only divisor's values "+text+" resource"))
		}
	}
	bytes := strings.Join(byteDivisors, ", ")
	switch _, name, _ := strings.Cut(r.Resource, "."); {
	case pages:
		refuse(byteDivisors, bytes+" are supported with the hugepages")
	case !slices.Contains(resourceFields, r.Resource):
	case name == "cpu":
		refuse([]string{"1m", "1"}, "1m and 1 are supported with the cpu")
	case name == "memory":
		refuse(byteDivisors, bytes+" are supported with the memory")
	default:
		refuse(byteDivisors, bytes+" are supported with the local ephemeral storage")
	}
	return errs
}
