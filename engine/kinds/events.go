package kinds

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EventLast is when an Event was last seen.
func EventLast(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return EventFirst(e)
}

// EventFirst is when an Event was first seen.
func EventFirst(e *corev1.Event) time.Time {
	switch {
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}

// EventCount is how often an Event happened, at least once.
func EventCount(e *corev1.Event) int {
	n := int(e.Count)
	if e.Series != nil {
		n = max(n, int(e.Series.Count))
	}
	return max(n, 1)
}

// EventSource is the component that an Event comes from, with its machine or instance where it has one.
func EventSource(e *corev1.Event) string {
	component, host := cmp.Or(e.Source.Component, e.ReportingController), cmp.Or(e.Source.Host, e.ReportingInstance)
	if host == "" {
		return component
	}
	return component + ", " + host
}
