package kinds

import storagev1 "k8s.io/api/storage/v1"

// The kinds of storage.k8s.io/v1.
var (
	CSIDrivers = &Kind{Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver", Resource: "csidrivers", Singular: "csidriver",
		Prefix: "/registry/csidrivers/", New: func() Object { return &storagev1.CSIDriver{} }}
	CSINodes = &Kind{Group: "storage.k8s.io", Version: "v1", Kind: "CSINode", Resource: "csinodes", Singular: "csinode",
		Prefix: "/registry/csinodes/", Subresources: []Subresource{status}, New: func() Object { return &storagev1.CSINode{} }}
	CSIStorageCapacities = &Kind{Group: "storage.k8s.io", Version: "v1", Kind: "CSIStorageCapacity", Resource: "csistoragecapacities", Singular: "csistoragecapacity", Namespaced: true,
		Prefix: "/registry/csistoragecapacities/", New: func() Object { return &storagev1.CSIStorageCapacity{} }}
	StorageClasses = &Kind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass", Resource: "storageclasses", Singular: "storageclass", Short: []string{"sc"},
		Prefix: "/registry/storageclasses/", New: func() Object { return &storagev1.StorageClass{} }}
	VolumeAttachments = &Kind{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttachment", Resource: "volumeattachments", Singular: "volumeattachment",
		Prefix: "/registry/volumeattachments/", Subresources: []Subresource{status}, New: func() Object { return &storagev1.VolumeAttachment{} }}
	VolumeAttributesClasses = &Kind{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttributesClass", Resource: "volumeattributesclasses", Singular: "volumeattributesclass", Short: []string{"vac"},
		Prefix: "/registry/volumeattributesclasses/", New: func() Object { return &storagev1.VolumeAttributesClass{} }}
)
