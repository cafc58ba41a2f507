package batch

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // time zones are the same on every machine, as in the API server

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

// cronNameMax leaves room for the 11 characters that the controller adds for a Job.
const cronNameMax = 52

func cronJobResource() *resource.Resource {
	type cronJob = *batchv1.CronJob
	return &resource.Resource{
		Kind:    kinds.CronJobs,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultCronJob),
		PrepareCreate: resource.Typed(func(o cronJob) {
			o.Status = batchv1.CronJobStatus{}
			dropScheduling(&o.Spec.JobTemplate.Spec, nil)
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old cronJob, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
				return
			}
			o.Status = old.Status
			dropScheduling(&o.Spec.JobTemplate.Spec, &old.Spec.JobTemplate.Spec)
		}),
		UpdateWhole: true,
		Validate: resource.TypedCheck(func(o cronJob) field.ErrorList {
			errs := validateCronJob(&o.Spec, nil, field.NewPath("spec"))
			if len(o.Name) > cronNameMax {
				errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), o.Name, fmt.Sprintf("must be no more than %d characters", cronNameMax)))
			}
			return append(errs, requireSchedule(o)...)
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old cronJob, sub string) field.ErrorList {
			if sub == "status" {
				return nil
			}
			return append(validateCronJob(&o.Spec, &old.Spec, field.NewPath("spec")), requireSchedule(o)...)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o cronJob) any { return o.Spec }),
		Warn: resource.TypedWarn(func(o, old cronJob) []string {
			var out []string
			if old == nil {
				out = nameWarnings(o.Name)
			}
			if old == nil || o.Generation != old.Generation {
				out = append(out, jobWarnings(&o.Spec.JobTemplate.Spec, field.NewPath("spec", "jobTemplate", "spec"))...)
			}
			if old != nil && strings.Contains(o.Spec.Schedule, "TZ") {
				out = append(out, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
			}
			return out
		}),
	}
}

func defaultCronJob(o *batchv1.CronJob) {
	if o.Spec.ConcurrencyPolicy == "" {
		o.Spec.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	check.SetDefault(&o.Spec.Suspend, false)
	check.SetDefault(&o.Spec.SuccessfulJobsHistoryLimit, 3)
	check.SetDefault(&o.Spec.FailedJobsHistoryLimit, 1)
	defaultJobSpec(&o.Spec.JobTemplate.Spec)
}

// requireSchedule stands last: this rule is one of those that the API server reads off its types, after all others.
func requireSchedule(o *batchv1.CronJob) field.ErrorList {
	if o.Spec.Schedule != "" {
		return nil
	}
	return field.ErrorList{field.Required(field.NewPath("spec", "schedule"), "")}
}

func validateCronJob(s, old *batchv1.CronJobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Schedule != "" {
		errs = append(errs, validateSchedule(s, old != nil && strings.Contains(old.Schedule, "TZ"), at.Child("schedule"))...)
	}
	errs = append(errs, check.Counts(at, check.Opt("startingDeadlineSeconds", s.StartingDeadlineSeconds))...)
	if old == nil || !same(old.TimeZone, s.TimeZone) {
		errs = append(errs, validateTimeZone(s.TimeZone, at.Child("timeZone"))...)
	}
	switch p := s.ConcurrencyPolicy; p {
	case batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent:
	default:
		errs = append(errs, field.NotSupported(at.Child("concurrencyPolicy"), p, []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}))
	}
	errs = append(errs, validateJobTemplate(&s.JobTemplate.Spec, at.Child("jobTemplate", "spec"))...)
	return append(errs, check.Counts(at, check.Opt("successfulJobsHistoryLimit", s.SuccessfulJobsHistoryLimit), check.Opt("failedJobsHistoryLimit", s.FailedJobsHistoryLimit))...)
}

func validateJobTemplate(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	errs := validateJobSpec(s, at)
	if s.Selector != nil {
		errs = append(errs, field.Invalid(at.Child("selector"), s.Selector, "`selector` will be auto-generated"))
	}
	if m := s.ManualSelector; m != nil && *m {
		e := field.NotSupported(at.Child("manualSelector"), "", []string{"nil", "false"})
		e.BadValue = m
		errs = append(errs, e)
	}
	return errs
}

func validateSchedule(s *batchv1.CronJobSpec, zoneAllowed bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if err := parseSchedule(s.Schedule); err != nil {
		errs = append(errs, field.Invalid(at, s.Schedule, err.Error()))
	}
	switch zone := strings.Contains(s.Schedule, "TZ"); {
	case zone && !zoneAllowed:
		errs = append(errs, field.Invalid(at, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	case zone && s.TimeZone != nil:
		errs = append(errs, field.Invalid(at, s.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
	}
	return errs
}

// parseSchedule guards the library, which panics on some schedules ("TZ=0").
func parseSchedule(text string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("invalid schedule format: %v", v)
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}

// zonePart is a part of a time zone's name, as the time zone database has them, with digits and + for old names.
var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func validateTimeZone(zone *string, at *field.Path) field.ErrorList {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(at, zone, "timeZone must be nil or non-empty string")}
	}
	for _, part := range strings.Split(*zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			return field.ErrorList{field.Invalid(at, zone, "unknown time zone "+*zone)}
		}
	}
	var errs field.ErrorList
	if strings.EqualFold(*zone, "Local") {
		errs = append(errs, field.Invalid(at, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		errs = append(errs, field.Invalid(at, zone, err.Error()))
	}
	return errs
}
