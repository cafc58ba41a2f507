package pods

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

func (c *containers) mounts(ctr *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range ctr.VolumeMounts {
		m, item := &ctr.VolumeMounts[i], at.Index(i)
		errs = append(errs, check.Needed(m.Name, item.Child("name"))...)
		if c.volumes[m.Name] == nil {
			errs = append(errs, field.NotFound(item.Child("name"), m.Name))
		}
		errs = append(errs, check.Needed(m.MountPath, item.Child("mountPath"))...)
		if slices.ContainsFunc(ctr.VolumeMounts[:i], func(o corev1.VolumeMount) bool { return o.MountPath == m.MountPath }) {
			errs = append(errs, field.Invalid(item.Child("mountPath"), m.MountPath, "must be unique"))
		}
		if slices.ContainsFunc(ctr.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == m.Name }) {
			errs = append(errs, field.Invalid(item.Child("name"), m.Name, "must not already exist in volumeDevices"))
		}
		if slices.ContainsFunc(ctr.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.DevicePath == m.MountPath }) {
			errs = append(errs, field.Invalid(item.Child("mountPath"), m.MountPath, "must not already exist as a path in volumeDevices"))
		}
		// From here on Kubernetes leaves out which mount it is.
		if m.SubPath != "" {
			errs = append(errs, check.DescendingPath(m.SubPath, at.Child("subPath"))...)
		}
		if m.SubPathExpr != "" {
			if m.SubPath != "" {
				errs = append(errs, field.Invalid(item.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
			}
			errs = append(errs, check.DescendingPath(m.SubPathExpr, at.Child("subPathExpr"))...)
		}
		errs = append(errs, propagation(m, ctr, at)...)
	}
	return errs
}

// propagation checks how a mount shares what is mounted below it.
func propagation(m *corev1.VolumeMount, ctr *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if p := m.MountPropagation; p != nil {
		at := at.Child("mountPropagation")
		errs = append(errs, check.OneOf(at, *p, corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)...)
		privileged := ctr.SecurityContext != nil && ctr.SecurityContext.Privileged != nil && *ctr.SecurityContext.Privileged
		if *p == corev1.MountPropagationBidirectional && !privileged {
			errs = append(errs, field.Forbidden(at, "Bidirectional mount propagation is available only to privileged containers"))
		}
	}
	r := m.RecursiveReadOnly
	if r == nil {
		return errs
	}
	at = at.Child("recursiveReadOnly")
	switch *r {
	case corev1.RecursiveReadOnlyDisabled:
	case corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible:
		if !m.ReadOnly {
			errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
		}
		if p := m.MountPropagation; p != nil && *p != corev1.MountPropagationNone {
			errs = append(errs, field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))
		}
	default:
		errs = append(errs, check.OneOf(at, *r, corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)...)
	}
	return errs
}

func (c *containers) devices(ctr *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, d := range ctr.VolumeDevices {
		before, item := ctr.VolumeDevices[:i], at.Index(i)
		name, path := item.Child("name"), item.Child("devicePath")
		v := c.volumes[d.Name]
		errs = append(errs, check.Needed(d.Name, name)...)
		if d.Name != "" && slices.ContainsFunc(before, func(o corev1.VolumeDevice) bool { return o.Name == d.Name }) {
			errs = append(errs, field.Invalid(name, d.Name, "must be unique"))
		}
		switch {
		case v == nil:
			errs = append(errs, field.NotFound(name, d.Name))
		case v.PersistentVolumeClaim == nil && v.Ephemeral == nil:
			errs = append(errs, field.Invalid(name, d.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		errs = append(errs, check.Needed(d.DevicePath, path)...)
		if slices.ContainsFunc(before, func(o corev1.VolumeDevice) bool { return o.DevicePath == d.DevicePath }) {
			errs = append(errs, field.Invalid(path, d.DevicePath, "must be unique"))
		}
		if len(check.PathWithoutBacksteps(d.DevicePath, path)) > 0 {
			errs = append(errs, field.Invalid(path, d.DevicePath, "can not contain backsteps ('..')"))
		}
		if slices.ContainsFunc(ctr.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == d.Name }) {
			errs = append(errs, field.Invalid(name, d.Name, "must not already exist in volumeMounts"))
		}
		if slices.ContainsFunc(ctr.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == d.DevicePath }) {
			errs = append(errs, field.Invalid(path, d.DevicePath, "must not already exist as a path in volumeMounts"))
		}
	}
	return errs
}
