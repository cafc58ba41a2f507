package batch

import (
	"fmt"
	"maps"
	"math"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
	"example.com/kubeviz/engine/kinds"
)

// Labels of a Job's pods: those of Kubernetes now, and what they were called before they had a prefix.
const (
	uidLabel        = batchv1.ControllerUidLabel
	nameLabel       = batchv1.JobNameLabel
	legacyUIDLabel  = "controller-uid"
	legacyNameLabel = "job-name"
)

func jobResource() *resource.Resource {
	type job = *batchv1.Job
	return &resource.Resource{
		Kind:          kinds.Jobs,
		Name:          apivalidation.NameIsDNSSubdomain,
		Default:       resource.Typed(defaultJob),
		PrepareCreate: resource.Typed(prepareJob),
		PrepareUpdate: resource.TypedUpdate(func(j, old job, sub string) {
			j.Labels = maps.Clone(j.Labels) // see defaultJob
			if sub == "status" {
				j.Spec = old.Spec
				return
			}
			j.Status = old.Status
			dropScheduling(&j.Spec, &old.Spec)
		}),
		UpdateWhole: true,
		Validate: resource.TypedCheck(func(j job) field.ErrorList {
			errs := validateGeneratedSelector(j)
			errs = append(errs, validateJob(&j.Spec, false, field.NewPath("spec"))...)
			return append(errs, validateIndexedName(j)...)
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(j, old job, sub string) field.ErrorList {
			if sub == "status" {
				return validateStatusUpdate(j, old, field.NewPath("status"))
			}
			return append(validateJobUpdate(j, old, field.NewPath("spec")), validateIndexedName(j)...)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(j job) any { return j.Spec }),
		Fields: map[string]func(kinds.Object) string{
			"status.successful": resource.TypedValue(func(j job) string { return strconv.Itoa(int(j.Status.Succeeded)) }),
		},
		Orphans: true, // of all kinds only Jobs and ReplicationControllers leave their pods behind when nothing is said
		Warn: resource.TypedWarn(func(j, old job) []string {
			if old == nil {
				return append(nameWarnings(j.Name), jobWarnings(&j.Spec, field.NewPath("spec"))...)
			}
			if j.Generation != old.Generation {
				return jobWarnings(&j.Spec, field.NewPath("spec"))
			}
			return nil
		}),
	}
}

func defaultJob(j *batchv1.Job) {
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		check.SetDefault(&s.Completions, 1)
	}
	check.SetDefault(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		check.SetDefault(&s.BackoffLimit, math.MaxInt32)
	}
	check.SetDefault(&s.BackoffLimit, 6)
	if s.Template.Labels != nil && len(j.Labels) == 0 {
		// The very same map, until the object is prepared: labels that the template gets by then are the Job's as well.
		j.Labels = s.Template.Labels
	}
	check.SetDefault(&s.CompletionMode, batchv1.NonIndexedCompletion)
	check.SetDefault(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		check.SetDefault(&s.PodReplacementPolicy, batchv1.Failed)
	}
	check.SetDefault(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	check.SetDefault(&s.ManualSelector, false)
	defaultJobSpec(s)
}

// defaultJobSpec fills what Jobs and the templates of CronJobs have alike.
func defaultJobSpec(s *batchv1.JobSpec) {
	if p := s.PodFailurePolicy; p != nil {
		for i := range p.Rules {
			for k := range p.Rules[i].OnPodConditions {
				if c := &p.Rules[i].OnPodConditions[k]; c.Status == "" {
					c.Status = corev1.ConditionTrue
				}
			}
		}
	}
	pods.DefaultSpec(&s.Template.Spec)
}

// prepareJob gives a Job its selector and its pods their labels, unless the user minds both.
func prepareJob(j *batchv1.Job) {
	j.Status = batchv1.JobStatus{}
	dropScheduling(&j.Spec, nil)
	if m := j.Spec.ManualSelector; m == nil || !*m {
		generateSelector(j)
	}
	if len(j.Labels) == 0 {
		j.Labels = j.Spec.Template.Labels // the server defaults what it reads back as well
	}
	j.Labels = maps.Clone(j.Labels)
}

func generateSelector(j *batchv1.Job) {
	t := &j.Spec.Template
	if t.Labels == nil {
		t.Labels = map[string]string{}
	}
	for _, l := range []struct{ key, value string }{{legacyNameLabel, j.Name}, {nameLabel, j.Name}, {legacyUIDLabel, string(j.UID)}, {uidLabel, string(j.UID)}} {
		if _, ok := t.Labels[l.key]; !ok { // one that is there stays, and is refused when it is another
			t.Labels[l.key] = l.value
		}
	}
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	sel := j.Spec.Selector
	if sel.MatchLabels == nil {
		sel.MatchLabels = map[string]string{}
	}
	if _, ok := sel.MatchLabels[uidLabel]; !ok {
		sel.MatchLabels[uidLabel] = string(j.UID)
	}
}

// dropScheduling takes away the wish for scheduling as a group, which is not served (WorkloadWithJob).
func dropScheduling(s, old *batchv1.JobSpec) {
	if old == nil || old.Scheduling == nil {
		s.Scheduling = nil
	}
}

func nameWarnings(name string) []string {
	if texts := validation.IsDNS1123Label(name); len(texts) > 0 {
		return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", texts)}
	}
	return nil
}

func jobWarnings(s *batchv1.JobSpec, at *field.Path) []string {
	if indexed(s) && s.Completions != nil && *s.Completions > manyCompletions && s.Parallelism != nil && *s.Parallelism > parallelismMaxOfMany {
		return []string{at.String() + ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track " +
			"completedIndexes when a big number of indexes fail"}
	}
	return nil
}

func indexed(s *batchv1.JobSpec) bool {
	return s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
}
