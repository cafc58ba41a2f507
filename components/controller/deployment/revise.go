package deployment

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apivalidation "k8s.io/apimachinery/pkg/util/validation"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// revise finds the replica set of the present template (nil when there is none and create is false) and the others, and brings revisions up to date on the set and
// on the Deployment (k/k sync.go: getAllReplicaSetsAndSyncRevision). It works on the sets as they were when the pass began.
func (s *sync) revise(create bool) (newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet, err error) {
	newest = findNew(s.d, s.sets)
	old = othersThan(newest, s.sets)
	revision := maxRevision(old) + 1
	switch {
	case newest != nil:
		newest, err = s.keepRevision(newest, revision)
	case create:
		newest, err = s.createSet(old, revision)
	}
	return newest, old, err
}

// keepRevision raises the revision of a set that exists. Rolling back is just this: an old set matches again and gets the highest number.
func (s *sync) keepRevision(rs *appsv1.ReplicaSet, revision int64) (*appsv1.ReplicaSet, error) {
	next := rs.DeepCopy()
	changed := annotateRevision(next, s.d, revision)
	if changed || next.Spec.MinReadySeconds != s.d.Spec.MinReadySeconds {
		next.Spec.MinReadySeconds = s.d.Spec.MinReadySeconds
		s.Decide("take %s as revision %s: its pod template is the one %s asks for", rs.Name, next.Annotations[revisionAnnotation], s.d.Name)
		return kubeapi.Replace(s.Proc, s.Client, next)
	}
	update := s.setRevision(rs.Annotations[revisionAnnotation])
	if hasDeadline(s.d) && findCondition(s.d.Status.Conditions, appsv1.DeploymentProgressing) == nil {
		setCondition(&s.d.Status, condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonFound, fmt.Sprintf("Found new replica set %q", rs.Name), s.Now()))
		update = true
	}
	if update {
		if err := s.writeStatus("its revision is " + rs.Annotations[revisionAnnotation]); err != nil {
			return nil, err
		}
	}
	return rs, nil
}

// createSet makes the replica set of the present template.
func (s *sync) createSet(old []*appsv1.ReplicaSet, revision int64) (*appsv1.ReplicaSet, error) {
	rs := setFor(s.d, old, revision)
	size := *rs.Spec.Replicas
	s.Decide("create %s with %d pods: no replica set has the pod template of revision %d yet, and %d pods may exist in all", rs.Name, size, revision, max(most(s.d), size))
	created, err := kubeapi.Make(s.Proc, s.Client, rs.DeepCopy())
	existed := apierrors.IsAlreadyExists(err)
	switch {
	case existed:
		if created, err = s.afterCollision(rs.Name, err); err != nil {
			return nil, err
		}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil, err
	case err != nil:
		return nil, s.createFailed(rs.Name, err)
	}
	if !existed && size > 0 {
		s.ctl.recorder.Eventf(s.Proc, s.d, corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled up replica set %s from 0 to %d", created.Name, size)
	}
	update := s.setRevision(formatRevision(revision))
	if !existed && hasDeadline(s.d) {
		setCondition(&s.d.Status, condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonCreated, fmt.Sprintf("Created new replica set %q", created.Name), s.Now()))
		update = true
	}
	if update {
		if err := s.writeStatus(fmt.Sprintf("revision %d begins", revision)); err != nil {
			return nil, err
		}
	}
	return created, nil
}

// setFor is the replica set that d's template asks for, with as many pods as may be made at once.
func setFor(d *appsv1.Deployment, old []*appsv1.ReplicaSet, revision int64) *appsv1.ReplicaSet {
	template := d.Spec.Template.DeepCopy()
	hash := templateHash(template, d.Status.CollisionCount)
	template.Labels = labelled(template.Labels, hash)
	selector := d.Spec.Selector.DeepCopy()
	selector.MatchLabels = labelled(selector.MatchLabels, hash)
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: nameFor(d.Name, hash), Labels: maps.Clone(template.Labels),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, kinds.Deployments.GVK())}},
		Spec: appsv1.ReplicaSetSpec{Replicas: new(int32), MinReadySeconds: d.Spec.MinReadySeconds, Selector: selector, Template: *template},
	}
	size := newSize(d, with(old, rs), 0)
	rs.Spec.Replicas = &size
	annotateRevision(rs, d, revision)
	annotateSizes(rs, d)
	return rs
}

// nameFor is "<deployment>-<hash>", the Deployment's name cut where the whole would be too long for a label.
func nameFor(deployment, hash string) string {
	return deployment[:min(len(deployment), apivalidation.DNS1123SubdomainMaxLength-len(hash)-1)] + "-" + hash
}

func labelled(labels map[string]string, hash string) map[string]string {
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	out[hashLabel] = hash
	return out
}

// afterCollision looks at the set that has the name already: ours (the picture was stale), or another template with the same hash. Then the collision count goes up and
// the next pass tries the next name.
func (s *sync) afterCollision(name string, exists error) (*appsv1.ReplicaSet, error) {
	rs, ok := s.ctl.in.ReplicaSets.Get(kubeapi.MakeKey(s.d.Namespace, name))
	if !ok {
		return nil, exists // not seen here yet
	}
	if ref := metav1.GetControllerOfNoCopy(rs); ref != nil && ref.UID == s.d.UID && sameTemplate(&s.d.Spec.Template, &rs.Spec.Template) {
		return rs, nil
	}
	count := int32(1)
	if s.d.Status.CollisionCount != nil {
		count += *s.d.Status.CollisionCount
	}
	s.d.Status.CollisionCount = &count
	_ = s.writeStatus(fmt.Sprintf("%s exists with another pod template, so collision %d is counted into the hash", name, count)) // the key comes back either way
	return nil, exists
}

func (s *sync) createFailed(name string, err error) error {
	message := fmt.Sprintf("Failed to create new replica set %q: %v", name, err)
	if hasDeadline(s.d) {
		setCondition(&s.d.Status, condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, reasonCreateError, message, s.Now()))
		_ = s.writeStatus("the replica set could not be created") // the creation's error is the one to report
	}
	s.ctl.recorder.Event(s.Proc, s.d, corev1.EventTypeWarning, reasonCreateError, message)
	return err
}
