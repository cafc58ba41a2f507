package deployment

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// roll takes one step of a rolling update: the new set grows, or old ones shrink, and the status tells.
func (s *sync) roll() error {
	newest, old, err := s.revise(true)
	if err != nil {
		return err
	}
	if up, ok := planNew(s.d, newest, old); ok {
		if err := s.scale(up); err != nil {
			return err
		}
		return s.reportRollout(newest, old)
	}
	if down := planOld(s.d, newest, old); len(down) > 0 {
		if err := s.scale(down...); err != nil {
			return err
		}
		return s.reportRollout(newest, old)
	}
	if complete(s.d, s.d.Status) {
		if err := s.cleanup(old); err != nil {
			return err
		}
	}
	return s.reportRollout(newest, old)
}

// recreate takes one step of Recreate: old sets to zero, wait for their last pod to be gone, then the new set.
func (s *sync) recreate() error {
	newest, old, err := s.revise(false)
	if err != nil {
		return err
	}
	var down []step
	for _, rs := range active(old) {
		down = append(down, step{rs, 0, "strategy Recreate removes all old pods before it makes new ones"})
	}
	if len(down) > 0 {
		if err := s.scale(down...); err != nil {
			return err
		}
		return s.reportRollout(newest, old)
	}
	if oldPodsExist(newest, old, s.ctl.in.PodsOf) {
		return s.reportRollout(newest, old)
	}
	if newest == nil {
		if newest, old, err = s.revise(true); err != nil {
			return err
		}
	}
	if wanted := replicasWanted(s.d); replicasOf(newest) != wanted {
		if err := s.scale(step{newest, wanted, fmt.Sprintf("no old pods are left; the Deployment wants %d", wanted)}); err != nil {
			return err
		}
	}
	if complete(s.d, s.d.Status) {
		if err := s.cleanup(old); err != nil {
			return err
		}
	}
	return s.reportRollout(newest, old)
}

// scalingWanted reports that the Deployment's size was changed since a set with pods was scaled last.
func (s *sync) scalingWanted() (bool, error) {
	newest, old, err := s.revise(false)
	if err != nil {
		return false, err
	}
	for _, rs := range active(with(old, newest)) {
		if desired, ok := numberIn(rs, desiredReplicasAnnotation); ok && desired != replicasWanted(s.d) {
			return true, nil
		}
	}
	return false, nil
}

// scaleAndReport follows a change of size, or keeps a paused Deployment at its size.
func (s *sync) scaleAndReport() error {
	newest, old, err := s.revise(false)
	if err != nil {
		return err
	}
	if err := s.scale(planScale(s.d, newest, old)...); err != nil {
		return err
	}
	if s.d.Spec.Paused {
		if err := s.cleanup(old); err != nil {
			return err
		}
	}
	return s.report(newest, old)
}

// reportOnly brings the status up to date and changes nothing else.
func (s *sync) reportOnly() error {
	newest, old, err := s.revise(false)
	if err != nil {
		return err
	}
	return s.report(newest, old)
}

func (s *sync) report(newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) error {
	return s.changeStatus(statusOf(s.d, newest, with(old, newest), s.Now()))
}

func (s *sync) reportRollout(newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) error {
	status := rolloutStatusOf(s.d, newest, with(old, newest), s.Now())
	if equality.Semantic.DeepEqual(s.d.Status, status) {
		s.again = untilDeadline(s.d, status, s.Now())
		return nil
	}
	return s.changeStatus(status)
}

func (s *sync) changeStatus(status appsv1.DeploymentStatus) error {
	if equality.Semantic.DeepEqual(s.d.Status, status) {
		return nil
	}
	s.d.Status = status
	return s.writeStatus(summary(s.d))
}

// summary tells a status in words.
func summary(d *appsv1.Deployment) string {
	st := d.Status
	text := fmt.Sprintf("%d of %d pods are new, %d available", st.UpdatedReplicas, replicasWanted(d), st.AvailableReplicas)
	if extra := st.Replicas - st.UpdatedReplicas; extra > 0 {
		text += fmt.Sprintf(", %d old ones remain", extra)
	}
	if c := findCondition(st.Conditions, appsv1.DeploymentProgressing); c != nil {
		text += fmt.Sprintf("; Progressing is %s (%s)", c.Status, c.Reason)
	}
	return text
}

// writeStatus writes status and annotations of the pass's copy. The copy keeps its resourceVersion, as in Kubernetes.
func (s *sync) writeStatus(why string) error {
	s.Decide("report on %s: %s", s.d.Name, why)
	_, err := kubeapi.ReplaceStatus(s.Proc, s.Client, s.d.DeepCopy())
	return err
}

// markPaused notes in the condition Progressing that the rollout was paused or resumed, so that no time runs against its deadline. A rollout that timed out stays so.
func (s *sync) markPaused() error {
	if !hasDeadline(s.d) {
		return nil
	}
	c := findCondition(s.d.Status.Conditions, appsv1.DeploymentProgressing)
	if c != nil && c.Reason == reasonTimedOut {
		return nil
	}
	marked := c != nil && c.Reason == reasonPaused
	switch {
	case s.d.Spec.Paused && !marked:
		setCondition(&s.d.Status, condition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, reasonPaused, "Deployment is paused", s.Now()))
		return s.writeStatus("it is paused")
	case !s.d.Spec.Paused && marked:
		setCondition(&s.d.Status, condition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, reasonResumed, "Deployment is resumed", s.Now()))
		return s.writeStatus("it is resumed")
	}
	return nil
}

// scale takes steps in order; several may be about one set. The status a pass writes afterwards still rests on the sets as they were when it began, as in Kubernetes: the
// change comes back through the informer and brings the next pass.
func (s *sync) scale(steps ...step) error {
	latest := map[types.UID]*appsv1.ReplicaSet{}
	for _, st := range steps {
		if rs, ok := latest[st.set.UID]; ok {
			st.set = rs
		}
		rs, err := s.scaleOne(st)
		if err != nil {
			return err
		}
		latest[rs.UID] = rs
	}
	return nil
}

// scaleOne sets a replica set's size and notes the Deployment's wish on it.
func (s *sync) scaleOne(st step) (*appsv1.ReplicaSet, error) {
	from := replicasOf(st.set)
	next := st.set.DeepCopy()
	next.Spec.Replicas = &st.to
	if !annotateSizes(next, s.d) && from == st.to {
		return st.set, nil
	}
	way := "up"
	if st.to < from {
		way = "down"
	}
	if from == st.to {
		s.Decide("note on %s that %s wants %d pods", next.Name, s.d.Name, replicasWanted(s.d))
	} else {
		s.Decide("scale %s %s %d→%d: %s", way, next.Name, from, st.to, st.why)
	}
	stored, err := kubeapi.Replace(s.Proc, s.Client, next)
	if err != nil {
		return nil, err
	}
	if from != st.to {
		s.ctl.recorder.Eventf(s.Proc, s.d, corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled %s replica set %s from %d to %d", way, stored.Name, from, st.to)
	}
	return stored, nil
}

// cleanup deletes replica sets beyond the history limit.
func (s *sync) cleanup(old []*appsv1.ReplicaSet) error {
	for _, rs := range planCleanup(s.d, old) {
		s.Decide("delete %s: revision %d is beyond the history limit of %d", rs.Name, revisionOf(rs), *s.d.Spec.RevisionHistoryLimit)
		if err := kubeapi.IgnoreNotFound(kubeapi.Remove(s.Proc, s.Client, kinds.ReplicaSets, rs.Namespace, rs.Name, nil)); err != nil {
			return err
		}
	}
	return nil
}

// setRevision sets the revision on the pass's copy and reports a change.
func (s *sync) setRevision(revision string) bool {
	if s.d.Annotations[revisionAnnotation] == revision {
		return false
	}
	if s.d.Annotations == nil {
		s.d.Annotations = map[string]string{}
	}
	s.d.Annotations[revisionAnnotation] = revision
	return true
}

func formatRevision(n int64) string { return strconv.FormatInt(n, 10) }
