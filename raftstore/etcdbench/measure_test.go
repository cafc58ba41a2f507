package main

import (
	"strings"
	"testing"
	"time"
)

func TestQuantilesAreValuesThatWereMeasured(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		sorted []time.Duration
		part   float64
		want   time.Duration
	}{{nil, 0.5, 0}, {hundred[:1], 0.99, 1}, {hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred[:30], 0.95, 29}} {
		if got := quantile(c.sorted, c.part); got != c.want {
			t.Errorf("quantile %v of %d values: %d, want %d", c.part, len(c.sorted), got, c.want)
		}
	}
}

func TestARatioSaysHowManyTimesBetterWhicheverWayBetterLies(t *testing.T) {
	for _, c := range []struct {
		row   row
		ratio float64
		met   bool
	}{
		{row{etcd: 100, ours: 300, goal: 3}, 3, true},
		{row{etcd: 100, ours: 299, goal: 3}, 2.99, false},
		{row{etcd: 200, ours: 100, less: true, goal: 1}, 2, true},
		{row{etcd: 100, ours: 200, less: true, goal: 1}, 0.5, false},
		{row{etcd: 9000, ours: 900, less: true, goal: 1000, goalAbsolute: true}, 10, true},
		{row{etcd: 9000, ours: 1100, less: true, goal: 1000, goalAbsolute: true}, 9000.0 / 1100, false},
	} {
		if c.row.ratio() != c.ratio || c.row.met() != c.met {
			t.Errorf("%+v: %v times better, met: %v; want %v, %v", c.row, c.row.ratio(), c.row.met(), c.ratio, c.met)
		}
		c.row.show = count
		if c.row.met() == strings.Contains(table([]row{c.row}), "missed") {
			t.Errorf("the table of %+v says otherwise:\n%s", c.row, table([]row{c.row}))
		}
	}
}

// Both contenders do everything the comparison asks of them, once, on a small scale.
func TestBothContendersDoWhatTheyAreTold(t *testing.T) {
	for _, name := range []string{etcdName, raftstoreName} {
		t.Run(name, func(t *testing.T) {
			s, err := open(name, t.TempDir(), false)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			for _, o := range []order{
				{Do: "write", Writers: 4, For: 50 * time.Millisecond},
				{Do: "read", Writers: 4, For: 50 * time.Millisecond},
				{Do: "fail over"},
				{Do: "hold", Count: 500},
				{Do: "watch", Count: 50, For: 50 * time.Millisecond},
			} {
				r, err := obey(t.Context(), s, o)
				if err != nil {
					t.Fatalf("%s: %v", o.Do, err)
				}
				if r.Writes == 0 && r.Outage == 0 {
					t.Errorf("%s did nothing: %+v", o.Do, r)
				}
				if o.Do == "watch" && r.Delivered != r.Writes {
					t.Errorf("%d deliveries for %d writes to 50 watched keys", r.Delivered, r.Writes)
				}
			}
			if _, err := obey(t.Context(), s, order{Do: "sing"}); err == nil {
				t.Error("an order that makes no sense was obeyed")
			}
		})
	}
}
