package columns

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/kubeviz/engine/kinds"
)

var classDocs, driverDocs, attachmentDocs = storagev1.StorageClass{}.SwaggerDoc(), storagev1.CSIDriverSpec{}.SwaggerDoc(), storagev1.VolumeAttachmentSpec{}.SwaggerDoc()

var storageClasses = []Column{
	className(),
	text("Provisioner", classDocs["provisioner"], func(c *storagev1.StorageClass) string { return c.Provisioner }),
	text("ReclaimPolicy", classDocs["reclaimPolicy"], func(c *storagev1.StorageClass) string {
		return string(deref(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete))
	}),
	text("VolumeBindingMode", classDocs["volumeBindingMode"], func(c *storagev1.StorageClass) string {
		return string(deref(c.VolumeBindingMode, storagev1.VolumeBindingImmediate))
	}),
	asString(boolean("AllowVolumeExpansion", classDocs["allowVolumeExpansion"], func(c *storagev1.StorageClass) bool { return deref(c.AllowVolumeExpansion, false) })),
	age,
}

// className marks the one class of a list that claims really get. Alone, in a get or a watch, a class cannot know whether another is younger, and has no mark.
func className() Column {
	c := name
	c.Among = func(list []kinds.Object) func(kinds.Object, time.Time) any {
		chosen := defaultClass(list)
		return func(o kinds.Object, _ time.Time) any {
			if chosen != "" && o.GetName() == chosen {
				return chosen + defaultMark
			}
			return o.GetName()
		}
	}
	return c
}

// defaultClass is the youngest class that is annotated as the default; of equals in age, the first by name.
func defaultClass(list []kinds.Object) string {
	var best *storagev1.StorageClass
	for _, o := range list {
		c, ok := o.(*storagev1.StorageClass)
		if !ok || c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		if best == nil || c.CreationTimestamp.After(best.CreationTimestamp.Time) || c.CreationTimestamp.Equal(&best.CreationTimestamp) && c.Name < best.Name {
			best = c
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}

var volumeAttributesClasses = []Column{
	name,
	text("DriverName", storagev1.VolumeAttributesClass{}.SwaggerDoc()["driverName"], func(c *storagev1.VolumeAttributesClass) string { return c.DriverName }),
	age,
}

var volumeAttachments = []Column{
	name,
	named(text("Attacher", attachmentDocs["attacher"], func(a *storagev1.VolumeAttachment) string { return a.Spec.Attacher })),
	text("PV", storagev1.VolumeAttachmentSource{}.SwaggerDoc()["persistentVolumeName"], func(a *storagev1.VolumeAttachment) string { return deref(a.Spec.Source.PersistentVolumeName, "") }),
	text("Node", attachmentDocs["nodeName"], func(a *storagev1.VolumeAttachment) string { return a.Spec.NodeName }),
	boolean("Attached", storagev1.VolumeAttachmentStatus{}.SwaggerDoc()["attached"], func(a *storagev1.VolumeAttachment) bool { return a.Status.Attached }),
	age,
}

var csiDrivers = []Column{
	name,
	boolean("AttachRequired", driverDocs["attachRequired"], func(d *storagev1.CSIDriver) bool { return deref(d.Spec.AttachRequired, true) }),
	boolean("PodInfoOnMount", driverDocs["podInfoOnMount"], func(d *storagev1.CSIDriver) bool { return deref(d.Spec.PodInfoOnMount, false) }),
	boolean("StorageCapacity", driverDocs["storageCapacity"], func(d *storagev1.CSIDriver) bool { return deref(d.Spec.StorageCapacity, false) }),
	text("TokenRequests", driverDocs["tokenRequests"], func(d *storagev1.CSIDriver) string {
		if d.Spec.TokenRequests == nil {
			return "<unset>"
		}
		var audiences []string
		for _, t := range d.Spec.TokenRequests {
			audiences = append(audiences, t.Audience)
		}
		return strings.Join(audiences, ",")
	}),
	boolean("RequiresRepublish", driverDocs["requiresRepublish"], func(d *storagev1.CSIDriver) bool { return deref(d.Spec.RequiresRepublish, false) }),
	text("Modes", driverDocs["volumeLifecycleModes"], func(d *storagev1.CSIDriver) string {
		var modes []string
		for _, m := range d.Spec.VolumeLifecycleModes {
			modes = append(modes, string(m))
		}
		return orElse(strings.Join(modes, ","), "<none>")
	}),
	age,
}

var csiNodes = []Column{
	name,
	number("Drivers", "Drivers indicates the number of CSI drivers registered on the node", func(n *storagev1.CSINode) int { return len(n.Spec.Drivers) }),
	age,
}

var priorityClassDocs = schedulingv1.PriorityClass{}.SwaggerDoc()

var priorityClasses = []Column{
	name,
	number("Value", priorityClassDocs["value"], func(c *schedulingv1.PriorityClass) int32 { return c.Value }),
	boolean("Global-Default", priorityClassDocs["globalDefault"], func(c *schedulingv1.PriorityClass) bool { return c.GlobalDefault }),
	age,
	text("PreemptionPolicy", priorityClassDocs["preemptionPolicy"], func(c *schedulingv1.PriorityClass) string { return string(deref(c.PreemptionPolicy, "")) }),
}

var runtimeClasses = []Column{name, text("Handler", docs["handler"], func(c *nodev1.RuntimeClass) string { return c.Handler }), age}
