package columns

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

var jobDocs, cronDocs, cronStatusDocs = batchv1.JobSpec{}.SwaggerDoc(), batchv1.CronJobSpec{}.SwaggerDoc(), batchv1.CronJobStatus{}.SwaggerDoc()

var jobs = slices.Concat([]Column{
	name,
	text("Status", "Status of the job.", jobStatus),
	typed("Completions", "string", batchv1.JobStatus{}.SwaggerDoc()["succeeded"], func(j *batchv1.Job, _ time.Time) any { return completions(j) },
		func(j *batchv1.Job) Rank { return Rank{Number: float64(j.Status.Succeeded), Text: completions(j)} }),
	typed("Duration", "string", "Time required to complete the job.", jobDuration, func(j *batchv1.Job) Rank {
		switch {
		case j.Status.StartTime == nil:
			return Rank{Number: -1}
		case j.Status.CompletionTime == nil: // those that go on have lasted longest, the oldest before all
			return Rank{Number: 1e12 - float64(j.Status.StartTime.Unix())}
		}
		return Rank{Number: j.Status.CompletionTime.Sub(j.Status.StartTime.Time).Seconds()}
	}),
	age,
}, containers(func(j *batchv1.Job) []corev1.Container { return j.Spec.Template.Spec.Containers }),
	[]Column{wide(text("Selector", jobDocs["selector"], func(j *batchv1.Job) string { return metav1.FormatLabelSelector(j.Spec.Selector) }))})

// jobStatus is the first of these that the job's conditions say; a job that is being deleted hides what is not final.
func jobStatus(j *batchv1.Job) string {
	has := func(t batchv1.JobConditionType) bool {
		i := slices.IndexFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == t })
		return i >= 0 && j.Status.Conditions[i].Status == corev1.ConditionTrue
	}
	switch {
	case has(batchv1.JobComplete):
		return "Complete"
	case has(batchv1.JobFailed):
		return "Failed"
	case j.DeletionTimestamp != nil:
		return "Terminating"
	case has(batchv1.JobSuspended):
		return "Suspended"
	case has(batchv1.JobFailureTarget):
		return "FailureTarget"
	case has(batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func completions(j *batchv1.Job) string {
	if j.Spec.Completions != nil {
		return fmt.Sprintf("%d/%d", j.Status.Succeeded, *j.Spec.Completions)
	}
	if p := deref(j.Spec.Parallelism, 0); p > 1 {
		return fmt.Sprintf("%d/1 of %d", j.Status.Succeeded, p)
	}
	return fmt.Sprintf("%d/1", j.Status.Succeeded)
}

func jobDuration(j *batchv1.Job, now time.Time) any {
	switch {
	case j.Status.StartTime == nil:
		return ""
	case j.Status.CompletionTime == nil:
		return duration.HumanDuration(now.Sub(j.Status.StartTime.Time))
	}
	return duration.HumanDuration(j.Status.CompletionTime.Sub(j.Status.StartTime.Time))
}

var cronJobs = slices.Concat([]Column{
	name,
	text("Schedule", cronDocs["schedule"], func(c *batchv1.CronJob) string { return c.Spec.Schedule }),
	text("Timezone", cronDocs["timeZone"], func(c *batchv1.CronJob) string { return deref(c.Spec.TimeZone, "<none>") }),
	suspended(text("Suspend", cronDocs["suspend"], func(c *batchv1.CronJob) string {
		switch {
		case c.Spec.Suspend == nil:
			return "<unset>"
		case *c.Spec.Suspend:
			return "True"
		}
		return "False"
	})),
	number("Active", cronStatusDocs["active"], func(c *batchv1.CronJob) int { return len(c.Status.Active) }),
	typed("Last Schedule", "string", cronStatusDocs["lastScheduleTime"], func(c *batchv1.CronJob, now time.Time) any {
		if c.Status.LastScheduleTime == nil {
			return "<none>"
		}
		return since(c.Status.LastScheduleTime.Time, now)
	}, func(c *batchv1.CronJob) Rank {
		if c.Status.LastScheduleTime == nil {
			return Rank{Number: 1}
		}
		return newest(c.Status.LastScheduleTime.Time)
	}),
	age,
}, containers(func(c *batchv1.CronJob) []corev1.Container { return c.Spec.JobTemplate.Spec.Template.Spec.Containers }),
	[]Column{wide(text("Selector", jobDocs["selector"], func(c *batchv1.CronJob) string { return metav1.FormatLabelSelector(c.Spec.JobTemplate.Spec.Selector) }))})

// suspended declares a boolean, though its cells are the words True, False and <unset>.
func suspended(c Column) Column {
	c.Type = "boolean"
	return c
}
