package headless

import ("testing";"os";"time";"bytes"
"example.com/kubeviz/engine/scenario"
"example.com/kubeviz/engine";"example.com/kubeviz/engine/journal";"example.com/kubeviz/engine/event";"example.com/kubeviz/engine/timeline"
"example.com/kubeviz/presets")

func TestZZ(t *testing.T) {
	var out [2]bytes.Buffer
	for i := range 2 {
		sc, err := presets.Load("ha"); if err != nil { t.Fatal(err) }
		steps := []scenario.Step{{At:"60s", Do:"cut worker-1 all"},{At:"8m", Do:"heal"}, {At:"9m", Do:"kill worker-2"}}
		b := time.Now()
		res, err := Run(t.Context(), Options{Scenario: sc, Do: steps, For: 10*time.Minute, Store: engine.StoreMemory, Seed: 3, Journal: &out[i]})
		if err != nil { t.Fatal(err) }
		t.Log(time.Since(b), out[i].Len())
		if i == 0 { WriteText(os.Stdout, res.Summary) }
	}
	t.Log("same bytes:", bytes.Equal(out[0].Bytes(), out[1].Bytes()))
	b := time.Now()
	r, err := journal.NewReader("j", bytes.NewReader(out[0].Bytes())); if err != nil { t.Fatal(err) }
	j, err := journal.Load(r); if err != nil { t.Fatal(err) }
	t.Log(j.Last(), time.Since(b), r.Torn())
	var buf bytes.Buffer
	w := journal.NewFile(&buf, r.Header())
	recs, _ := j.Read(nil, 1, 1<<30)
	names := map[string]int{}
	roots := map[string]int{}
	for _, x := range recs { if err := w.Write(x); err != nil { t.Fatal(err) }; names[x.Event.Name()]++
		c := journal.Chain(j, x.Seq); last := c[len(c)-1]; roots[x.Event.Name()+" <- "+last.Event.Name()]++ }
	t.Log("rewrite same:", bytes.Equal(out[0].Bytes(), buf.Bytes()), names)
	for k, v := range roots { t.Log(v, k) }
	l := timeline.Replay(j)
	l.Advance(1<<30)
	l.GoLive()
	list, more := l.World().Anomalies(20)
	t.Log(list, more)
	for _, d := range []time.Duration{70*time.Second, 125*time.Second, 4*time.Minute, 470*time.Second, 9*time.Minute} {
		l.Seek(l.World().Start.Add(d))
		list, more := l.World().Anomalies(20)
		t.Log(d); for _, a := range list { t.Logf("   %s|%s|%s|%v|%s|%v|%d|%d", a.Kind,a.Subject,a.Detail,a.Since.Sub(l.World().Start),a.By,a.Until.Sub(l.World().Start),a.Count,a.Seq) }; t.Log(more, l.World().Compare("worker-1"))
	}
	for s := event.Seq(1); s < j.Last(); s += 500 { l.SeekSeq(s) }
}
