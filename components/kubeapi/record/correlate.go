package record

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rules of cg tools/record/events_cache.go.
const (
	cacheSize       = 4096
	similarMax      = 10 // different messages of one reason and object; this one is combined already
	similarInterval = 10 * time.Minute
	spamBurst       = 25
	spamInterval    = 5 * time.Minute
	combinedPrefix  = "(combined from similar events): "
)

// correlator decides what becomes of an event: sent as it is, as a higher count of an earlier one, combined, or not at all. It is pure but for its memory.
type correlator struct {
	rng     *rand.Rand
	similar *lru[*similarity]
	seen    *lru[observation]
	spam    *lru[*bucket]
}

// similarity is what was recorded lately for one object and reason.
type similarity struct {
	messages []string
	last     time.Time
}

// observation is the event that stands for a key.
type observation struct {
	count   int32
	first   metav1.Time
	name    string
	version string
}

// bucket is a token bucket that fills one token per spamInterval.
type bucket struct {
	tokens float64
	at     time.Time
}

type correlated struct {
	event *corev1.Event
	// patch raises the count of the event that exists; nil: create.
	patch []byte
}

func newCorrelator(rng *rand.Rand) *correlator {
	return &correlator{rng: rng, similar: newLRU[*similarity](cacheSize), seen: newLRU[observation](cacheSize), spam: newLRU[*bucket](cacheSize)}
}

// correlate gives what to send for e; ok is false when the spam filter holds it back.
func (c *correlator) correlate(e *corev1.Event, n names, now time.Time) (correlated, bool) {
	e, key := c.aggregate(e, n, now)
	out := c.observe(e, key)
	if !c.admit(out.event, now) {
		return correlated{}, false
	}
	return out, true
}

// aggregate returns e, or the event that combines it with similar ones, and the key it is counted under.
func (c *correlator) aggregate(e *corev1.Event, n names, now time.Time) (*corev1.Event, string) {
	key := aggregateKey(e)
	s, ok := c.similar.get(key)
	if !ok || now.Sub(s.last) > similarInterval {
		s = &similarity{}
	}
	if !slices.Contains(s.messages, e.Message) {
		s.messages = append(s.messages, e.Message)
	}
	s.last = now
	c.similar.add(key, s)
	if len(s.messages) < similarMax {
		return e, eventKey(e)
	}
	// client-go forgets any one message here; which one is a matter of map order there, of the seed here
	i := c.rng.IntN(len(s.messages))
	s.messages = slices.Delete(s.messages, i, i+1)
	stamp := metav1.NewTime(now.Truncate(time.Second))
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: n.next(e.InvolvedObject.Name, now), Namespace: e.Namespace},
		InvolvedObject: e.InvolvedObject, Type: e.Type, Reason: e.Reason, Message: combinedPrefix + e.Message,
		FirstTimestamp: stamp, LastTimestamp: stamp, Count: 1, Source: e.Source,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
	}, key
}

// observe turns a repeat into a patch of the event that stands for key.
func (c *correlator) observe(e *corev1.Event, key string) correlated {
	copied := *e
	out := correlated{event: &copied}
	if o, ok := c.seen.get(key); ok && o.count > 0 {
		copied.Name, copied.ResourceVersion, copied.FirstTimestamp, copied.Count = o.name, o.version, o.first, o.count+1
		out.patch = encode(map[string]any{"count": copied.Count, "lastTimestamp": copied.LastTimestamp, "message": copied.Message})
	}
	c.seen.add(key, observation{count: copied.Count, first: copied.FirstTimestamp, name: copied.Name, version: copied.ResourceVersion})
	return out
}

// admit is the spam filter per source and object.
func (c *correlator) admit(e *corev1.Event, now time.Time) bool {
	key := spamKey(e)
	b, ok := c.spam.get(key)
	if !ok {
		b = &bucket{tokens: spamBurst, at: now}
	}
	b.tokens = min(spamBurst, b.tokens+float64(now.Sub(b.at))/float64(spamInterval))
	b.at = now
	c.spam.add(key, b)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// stored remembers the event as the API server has it.
func (c *correlator) stored(e *corev1.Event) {
	c.seen.add(eventKey(e), observation{count: e.Count, first: e.FirstTimestamp, name: e.Name, version: e.ResourceVersion})
}

// encode makes a patch. Written out field by field, since comparing whole events costs ten times as much.
func encode(fields map[string]any) []byte {
	data, err := json.Marshal(fields)
	if err != nil {
		panic(fmt.Sprintf("encode patch of an event: %v", err)) // numbers, times and strings always encode
	}
	return data
}

func spamKey(e *corev1.Event) string {
	o := e.InvolvedObject
	return strings.Join([]string{e.Source.Component, e.Source.Host, o.Kind, o.Namespace, o.Name, string(o.UID), o.APIVersion}, "\x00")
}

func aggregateKey(e *corev1.Event) string {
	return strings.Join([]string{spamKey(e), e.Type, e.Reason, e.ReportingController, e.ReportingInstance}, "\x00")
}

func eventKey(e *corev1.Event) string {
	return strings.Join([]string{spamKey(e), e.InvolvedObject.FieldPath, e.Type, e.Reason, e.Message}, "\x00")
}
