package kinds

import batchv1 "k8s.io/api/batch/v1"

// The kinds of batch/v1.
var (
	CronJobs = &Kind{Group: "batch", Version: "v1", Kind: "CronJob", Resource: "cronjobs", Singular: "cronjob", Short: []string{"cj"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/cronjobs/", Subresources: []Subresource{status}, New: func() Object { return &batchv1.CronJob{} }}
	Jobs = &Kind{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs", Singular: "job", Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/jobs/", Subresources: []Subresource{status}, New: func() Object { return &batchv1.Job{} }}
)
