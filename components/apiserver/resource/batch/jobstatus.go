package batch

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

func isTrue(list []batchv1.JobCondition, t batchv1.JobConditionType) bool {
	return slices.ContainsFunc(list, func(c batchv1.JobCondition) bool { return c.Type == t && c.Status == corev1.ConditionTrue })
}

// flags are the conditions of a Job that are true.
type flags struct{ complete, failed, failing, succeeding bool }

func (f flags) finished() bool { return f.complete || f.failed }

func flagsOf(s *batchv1.JobStatus) flags {
	return flags{isTrue(s.Conditions, batchv1.JobComplete), isTrue(s.Conditions, batchv1.JobFailed), isTrue(s.Conditions, batchv1.JobFailureTarget),
		isTrue(s.Conditions, batchv1.JobSuccessCriteriaMet)}
}

func same[T any](a, b *T) bool { return apiequality.Semantic.DeepEqual(a, b) }

// statusCheck gathers what is wrong with a new status. A rule looks only at what changed: a status that broke it before may be written again.
type statusCheck struct {
	job      *batchv1.Job
	old, now *batchv1.JobStatus
	was, is  flags
	at       *field.Path
	errs     field.ErrorList
}

func (c *statusCheck) invalid(name string, value any, text string) {
	c.errs = append(c.errs, field.Invalid(c.at.Child(name), value, text))
}

func (c *statusCheck) conditions(text string) { c.invalid("conditions", field.OmitValueType{}, text) }

func validateStatusUpdate(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	c := &statusCheck{job: j, old: &old.Status, now: &j.Status, was: flagsOf(&old.Status), is: flagsOf(&j.Status), at: at}
	s := c.now
	c.errs = check.Counts(at, check.N("active", s.Active), check.N("succeeded", s.Succeeded), check.N("failed", s.Failed), check.Opt("ready", s.Ready), check.Opt("terminating", s.Terminating))
	c.uncounted()
	c.ends()
	c.finished()
	c.indexes()
	c.counts()
	c.criteria()
	c.transitions()
	return c.errs
}

// uncounted pods are named once each.
func (c *statusCheck) uncounted() {
	u := c.now.UncountedTerminatedPods
	if u == nil {
		return
	}
	seen := map[types.UID]bool{}
	at := c.at.Child("uncountedTerminatedPods")
	for _, l := range []struct {
		name string
		uids []types.UID
	}{{"succeeded", u.Succeeded}, {"failed", u.Failed}} {
		for i, uid := range l.uids {
			at := at.Child(l.name).Index(i)
			switch {
			case uid == "":
				c.errs = append(c.errs, field.Invalid(at, uid, "must not be empty"))
			case seen[uid]:
				c.errs = append(c.errs, field.Duplicate(at, uid))
			}
			seen[uid] = true
		}
	}
}

// ends: how a Job ended, and when.
func (c *statusCheck) ends() {
	s, is := c.now, c.is
	completed := c.was.complete != is.complete
	failed := c.was.failed != is.failed
	timed := !same(c.old.CompletionTime, s.CompletionTime)
	if (completed || failed) && is.complete && is.failed {
		c.conditions("cannot set Complete=True and Failed=true conditions")
	}
	if (completed || c.was.failing != is.failing) && is.complete && is.failing {
		c.conditions("cannot set Complete=True and FailureTarget=true conditions")
	}
	if (completed || timed) && s.CompletionTime != nil && !is.complete {
		c.invalid("completionTime", s.CompletionTime, "cannot set completionTime when there is no Complete=True condition")
	}
	if (completed || timed) && s.CompletionTime == nil && is.complete {
		c.errs = append(c.errs, field.Required(c.at.Child("completionTime"), "completionTime is required for Complete jobs"))
	}
	if (timed || !same(c.old.StartTime, s.StartTime)) && s.StartTime != nil && s.CompletionTime != nil && s.CompletionTime.Before(s.StartTime) {
		c.invalid("completionTime", s.CompletionTime, "must be equal to or after `startTime`")
	}
	if (failed || !same(c.old.FailedIndexes, s.FailedIndexes)) && is.failed && !is.failing {
		c.conditions("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if (completed || c.was.succeeding != is.succeeding) && is.complete && !is.succeeding {
		c.conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
}

// finished: a Job that ended has begun, and has no pods left.
func (c *statusCheck) finished() {
	s := c.now
	changed := c.was.finished() != c.is.finished()
	if !c.is.finished() {
		return
	}
	if (changed || c.old.Active != s.Active) && s.Active > 0 {
		c.invalid("active", s.Active, "active>0 is invalid for finished job")
	}
	nothingToDo := c.job.Spec.Suspend != nil && *c.job.Spec.Suspend && c.job.Spec.Completions != nil && *c.job.Spec.Completions == 0
	if (changed || !same(c.old.StartTime, s.StartTime)) && !nothingToDo && s.StartTime == nil {
		c.errs = append(c.errs, field.Required(c.at.Child("startTime"), "startTime is required for finished job"))
	}
	u := s.UncountedTerminatedPods
	if (changed || !same(c.old.UncountedTerminatedPods, u)) && u != nil && len(u.Failed)+len(u.Succeeded) > 0 {
		c.invalid("uncountedTerminatedPods", check.GoForm(u), "must be empty for finished job")
	}
}

func (c *statusCheck) indexes() {
	s, spec := c.now, &c.job.Spec
	completed, failed := c.old.CompletedIndexes != s.CompletedIndexes, !same(c.old.FailedIndexes, s.FailedIndexes)
	if completed && spec.Completions != nil {
		if _, err := parseIndexes(s.CompletedIndexes, *spec.Completions); err != nil {
			c.invalid("completedIndexes", s.CompletedIndexes, "error parsing completedIndexes: "+err.Error())
		}
	}
	if failed && spec.Completions != nil && spec.BackoffLimitPerIndex != nil && s.FailedIndexes != nil {
		if _, err := parseIndexes(*s.FailedIndexes, *spec.Completions); err != nil {
			c.invalid("failedIndexes", s.FailedIndexes, "error parsing failedIndexes: "+err.Error())
		}
	}
	if completed && s.CompletedIndexes != "" && !indexed(spec) {
		c.invalid("completedIndexes", s.CompletedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if failed && spec.BackoffLimitPerIndex == nil && s.FailedIndexes != nil {
		c.invalid("failedIndexes", *s.FailedIndexes, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if (completed || failed) && spec.Completions != nil && s.FailedIndexes != nil {
		if i, found := overlap(s.CompletedIndexes, *s.FailedIndexes, *spec.Completions); found {
			c.invalid("failedIndexes", *s.FailedIndexes, "failedIndexes and completedIndexes overlap at index: "+strconv.Itoa(int(i)))
		}
	}
}

func (c *statusCheck) counts() {
	s := c.now
	if t := s.Terminating; (c.was.finished() != c.is.finished() || !same(c.old.Terminating, t)) && c.is.finished() && t != nil && *t > 0 {
		c.invalid("terminating", t, "terminating>0 is invalid for finished job")
	}
	if (!same(c.old.Ready, s.Ready) || c.old.Active != s.Active) && s.Ready != nil && *s.Ready > s.Active {
		c.invalid("ready", *s.Ready, "cannot set more ready pods than active")
	}
}

func (c *statusCheck) criteria() {
	if c.is.succeeding && c.is.failed {
		c.conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if c.is.succeeding && c.is.failing {
		c.conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if c.job.Spec.SuccessPolicy != nil && !c.is.succeeding && c.is.complete {
		c.conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// transitions: what is final stays, and counters do not go back.
func (c *statusCheck) transitions() {
	s, spec := c.now, &c.job.Spec
	for _, f := range []struct {
		was, is bool
		name    batchv1.JobConditionType
	}{{c.was.failed, c.is.failed, batchv1.JobFailed}, {c.was.complete, c.is.complete, batchv1.JobComplete}, {c.was.failing, c.is.failing, batchv1.JobFailureTarget}} {
		if f.was && !f.is {
			c.conditions("cannot disable the terminal " + string(f.name) + "=True condition")
		}
	}
	if s.Failed < c.old.Failed {
		c.invalid("failed", s.Failed, "cannot decrease the failed counter")
	}
	if s.Succeeded < c.old.Succeeded && (!indexed(spec) || !same(spec.Completions, spec.Parallelism)) {
		c.invalid("succeeded", s.Succeeded, "cannot decrease the succeeded counter")
	}
	if s.CompletionTime != nil && c.old.CompletionTime != nil && !same(s.CompletionTime, c.old.CompletionTime) {
		c.invalid("completionTime", s.CompletionTime, "field is immutable")
	}
	resuming := isTrue(c.old.Conditions, batchv1.JobSuspended) &&
		slices.ContainsFunc(s.Conditions, func(x batchv1.JobCondition) bool {
			return x.Type == batchv1.JobSuspended && x.Status == corev1.ConditionFalse
		})
	if suspended := spec.Suspend != nil && *spec.Suspend; c.old.StartTime != nil && !same(c.old.StartTime, s.StartTime) && !resuming && !suspended {
		c.invalid("startTime", s.StartTime, "field is immutable for unsuspended job once set")
	}
	if c.was.succeeding && !c.is.succeeding {
		c.conditions("cannot disable the SuccessCriteriaMet=True condition")
	}
	if c.was.complete && !c.was.succeeding && c.is.succeeding {
		c.conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}
