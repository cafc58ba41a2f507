package journal

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world/worldtest"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.UTC)

// written is the file of these records.
func written(t testing.TB, recs ...event.Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := NewFile(&buf, Header{Program: "test", Start: start})
	for _, r := range recs {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

func read(file []byte) (recs []event.Record, r *Reader, err error) {
	r, err = NewReader("file", bytes.NewReader(file))
	for err == nil {
		var rec event.Record
		if rec, err = r.Next(); err == nil {
			recs = append(recs, rec)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return recs, r, err
}

// fill gives every field a value other than zero.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(start.Add(time.Duration(*n) * time.Second)))
		return
	case kinds.Object:
		v.Set(reflect.ValueOf(&corev1.Pod{}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text <%d> & \"more\"\n", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) + 1<<40)
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 2 {
			key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, n)
			fill(val, n)
			v.SetMapIndex(key, val)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if tag := v.Type().Field(i).Tag.Get("json"); tag == "-" {
				continue // not for files: the object has a form of its own, a stack has none
			}
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Interface:
	default:
		panic("no value for " + v.Type().String())
	}
}

func TestLawEveryFactSurvivesItsFileForm(t *testing.T) {
	for name, row := range registry {
		t.Run(name, func(t *testing.T) {
			v := reflect.New(reflect.TypeOf(row.zero)).Elem()
			n := 0
			fill(v, &n)
			if o, ok := v.Interface().(event.ObjectChanged); ok {
				o.Object = &corev1.Pod{}
				v.Set(reflect.ValueOf(o))
			}
			for _, e := range []event.Event{v.Interface().(event.Event), zeroOf(row.zero)} {
				want := event.Record{Seq: 7, At: start, Wall: start.Add(time.Hour), Actor: "a/b", Cause: 3, Event: e}
				recs, _, err := read(written(t, want))
				if err != nil || len(recs) != 1 {
					t.Fatal(recs, err)
				}
				if !reflect.DeepEqual(recs[0], want) {
					t.Errorf("wrote %+v\n read %+v", want, recs[0])
				}
			}
		})
	}
}

func zeroOf(e event.Event) event.Event {
	if _, ok := e.(event.ObjectChanged); ok {
		return event.ObjectChanged{Object: &corev1.Pod{}}
	}
	return e
}

// Every type of package event with a Name method must be in the registry, or its records come back as Unknown.
func TestTheRegistryKnowsEveryFact(t *testing.T) {
	files, err := filepath.Glob("../event/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != "Name" || fn.Recv == nil {
				continue
			}
			typ := fn.Recv.List[0].Type.(*ast.Ident).Name
			if typ == "Unknown" {
				continue
			}
			found++
			if row, ok := registry[typ]; !ok || reflect.TypeOf(row.zero).Name() != typ {
				t.Errorf("event.%s is not in the registry under that name", typ)
			}
		}
	}
	if found != len(registry) {
		t.Errorf("%d facts in package event, %d in the registry", found, len(registry))
	}
}

func TestLawEveryObjectSurvivesItsFileForm(t *testing.T) {
	recs := worldtest.Records(worldtest.Options{Seed: 3}, 3000)
	for _, k := range kinds.All() { // and an object of every kind, with and without its type filled in
		for _, typed := range []bool{false, true} {
			o := k.New()
			o.SetName("x")
			o.SetLabels(map[string]string{"a": "b<>&"})
			if typed {
				o.GetObjectKind().SetGroupVersionKind(k.GVK())
			}
			recs = append(recs, event.Record{Seq: event.Seq(len(recs) + 1), At: start, Event: event.ObjectChanged{Type: event.Added, Object: o}})
		}
	}
	file := written(t, recs...)
	got, _, err := read(file)
	if err != nil || len(got) != len(recs) {
		t.Fatal(len(got), err)
	}
	for i, r := range got {
		o, ok := r.Event.(event.ObjectChanged)
		if !ok {
			if !reflect.DeepEqual(r, recs[i]) {
				t.Fatalf("wrote %+v\n read %+v", recs[i], r)
			}
			continue
		}
		want := recs[i].Event.(event.ObjectChanged).Object.DeepCopyObject().(kinds.Object)
		want.GetObjectKind().SetGroupVersionKind(o.Object.GetObjectKind().GroupVersionKind())
		if !apiequality.Semantic.DeepEqual(want, o.Object) {
			t.Fatalf("record %d: wrote %+v\n read %+v", r.Seq, want, o.Object)
		}
	}
	if again := written(t, got...); !bytes.Equal(file, again) {
		t.Error("reading and writing again changes the file")
	}
}

func TestALineReadsLikeThis(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Name = "web"
	got := string(written(t,
		event.Record{Seq: 1, At: start, Actor: event.You, Event: event.CommandGiven{Text: "kill <leader> & more"}},
		event.Record{Seq: 2, At: start, Wall: start, Actor: "store", Cause: 1, Event: event.ObjectChanged{Type: event.Added, Revision: 5, Object: pod}},
	))
	want := `{"kubeviz":"journal","version":1,"program":"test","start":"2026-01-01T00:00:00.123456789Z"}
{"n":1,"t":"2026-01-01T00:00:00.123456789Z","a":"you","e":"CommandGiven","d":{"Text":"kill <leader> & more"}}
{"n":2,"t":"2026-01-01T00:00:00.123456789Z","w":"2026-01-01T00:00:00.123456789Z","a":"store","c":1,"e":"ObjectChanged","d":{"Type":"ADDED","Revision":5,"Object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":null},"status":{}}}}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWhatThisProgramDoesNotKnowSurvives(t *testing.T) {
	head := string(written(t))
	for _, line := range []string{
		`{"n":1,"t":"2026-01-01T00:00:00Z","e":"VolumeAttached","d":{"Volume":"x","Deep":{"a":[1,2.50,null]}}}`,
		`{"n":1,"t":"2026-01-01T00:00:00Z","e":"Nothing"}`,
		`{"n":1,"t":"2026-01-01T00:00:00Z","e":"ObjectChanged","d":{"Type":"ADDED","Revision":1,"Object":{"apiVersion":"batch/v9","kind":"Job","x":1}}}`,
	} {
		recs, _, err := read([]byte(head + line + "\n"))
		if err != nil || len(recs) != 1 {
			t.Fatal(recs, err)
		}
		if _, ok := recs[0].Event.(event.Unknown); !ok {
			t.Errorf("%s is read as %T", line, recs[0].Event)
		}
		if got := string(written(t, recs...)); got != head+line+"\n" {
			t.Errorf("wrote\n%swant\n%s", strings.TrimPrefix(got, head), line)
		}
	}
}

func TestBadFilesGiveOneClearError(t *testing.T) {
	head := `{"kubeviz":"journal","version":1}` + "\n"
	first := `{"n":1,"t":"2026-01-01T00:00:00Z","e":"MachineUp","d":{"Host":"a"}}` + "\n"
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "file: the file is empty; a journal begins with a header line"},
		{"something else", "hello\nworld\n", `file line 1: this is not a kubeviz journal: the first line must be {"kubeviz":"journal","version":1}`},
		{"other JSON", "{}\n", `file line 1: this is not a kubeviz journal: the first line must be {"kubeviz":"journal","version":1}`},
		{"a cut header", `{"kubeviz":"jour`, "file line 1: the header is cut off; the file holds no records"},
		{"a newer version", `{"kubeviz":"journal","version":2}` + "\n", "file line 1: the file has format version 2, this kubeviz reads up to version 1: open it with a newer kubeviz"},
		{"no version", `{"kubeviz":"journal"}` + "\n", "file line 1: the header names no format version"},
		{"garbage inside", head + first + "garbage\n" + first, "file line 3: not a record: invalid character 'g' looking for beginning of value"},
		{"garbage at the end of a whole line", head + first + "garbage\n", "file line 3: not a record: invalid character 'g' looking for beginning of value"},
		{"no number", head + `{"e":"MachineUp"}` + "\n", `file line 2: not a record: "n" (its number) is missing`},
		{"no name", head + `{"n":1}` + "\n", `file line 2: not a record: "e" (the name of the fact) is missing`},
		{"a gap", head + first + strings.Replace(first, `"n":1`, `"n":3`, 1), "file line 3: record 3 follows record 1; records between them are missing or out of order"},
		{"a cause from the future", head + strings.Replace(first, `"n":1`, `"n":1,"c":1`, 1), "file line 2: record 1 names record 1 as its cause, which does not come before it"},
		{"a wrong type", head + strings.Replace(first, `"Host":"a"`, `"Host":5`, 1), "file line 2: record 1 (MachineUp): json: cannot unmarshal number into Go struct field MachineUp.Host of type string"},
		{"an endless line", head + `{"n":1,"e":"` + strings.Repeat("x", MaxLine), fmt.Sprintf("file line 2: the line is longer than %d bytes", MaxLine)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read([]byte(c.file))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestATornLastLineIsLeftOutAndReported(t *testing.T) {
	recs := worldtest.Records(worldtest.Options{Seed: 1}, 60)
	file := written(t, recs...)
	lines := bytes.SplitAfter(file, []byte("\n"))
	head := len(lines[0])
	for cut := head; cut <= len(file); cut += 13 {
		got, r, err := read(file[:cut])
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := bytes.Count(file[head:cut], []byte("\n"))
		clean := cut == head || file[cut-1] == '\n'
		if !clean && cut < len(file) && file[cut] == '\n' { // all but the line feed is there
			whole, clean = whole+1, true
		}
		if len(got) != whole || (r.Torn() == "") != clean {
			t.Fatalf("cut at %d: %d records, want %d; torn %q", cut, len(got), whole, r.Torn())
		}
		if !clean && !strings.HasPrefix(r.Torn(), fmt.Sprintf("file line %d: the last line is cut off", whole+2)) {
			t.Fatalf("torn: %s", r.Torn())
		}
	}
}

func TestAFileReadsBackAsTheJournalItCameFrom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	j := New(Options{Now: func() time.Time { return start }})
	for range 4 {
		j.Emit(event.Engine, 0, event.RateChanged{Rate: 1})
	}
	w := NewFile(f, Header{})
	j.AddWriter(w) // late: the file begins with record 5
	for i := range 3 {
		j.Emit(event.You, event.Seq(4+i), event.CommandGiven{Text: fmt.Sprint(i)})
	}
	f.Close()

	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k, err := Load(r)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := j.Read(nil, 5, 100)
	got, lost := k.Read(nil, 1, 100)
	if !reflect.DeepEqual(got, want) || lost != 4 || k.First() != 5 || k.Last() != 7 {
		t.Errorf("got %+v (lost %d)\nwant %+v", got, lost, want)
	}
	if c := Chain(k, 7); len(c) != 3 || c[0].Seq != 7 || c[2].Seq != 5 {
		t.Errorf("chain %v", c)
	}
	if _, err := Open(path + "x"); err == nil || !strings.HasPrefix(err.Error(), "open journal: open ") {
		t.Error(err)
	}
}

type brokenWriter struct{ left int }

func (b *brokenWriter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestAFullDiskIsReportedOnceAndTheJournalGoesOn(t *testing.T) {
	j := New(Options{Now: func() time.Time { return start }})
	w := NewFile(&brokenWriter{left: 1 << 10}, Header{})
	j.AddWriter(w)
	for range 5000 {
		j.Emit(event.Engine, 0, event.RateChanged{Rate: 1})
	}
	if j.Last() != 5000 || j.Err() == nil || j.Err().Error() != "journal: write file: short write" {
		t.Errorf("last %d, error %v", j.Last(), j.Err())
	}
	if w.Err() == nil {
		t.Error("the writer forgot its error")
	}
}

func FuzzParseLine(f *testing.F) {
	for _, l := range bytes.Split(written(f, worldtest.Records(worldtest.Options{Seed: 2}, 400)...), []byte("\n"))[1:] {
		f.Add(l)
	}
	f.Add([]byte(`{"n":1,"e":"ObjectChanged","d":{"Object":{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"resources":{"requests":{"cpu":"1e309"}}}]}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseLine(text)
		if err != nil {
			return
		}
		var buf bytes.Buffer // what is read can be written, and then reads the same
		if err := appendRecord(&buf, r); err != nil {
			if strings.Contains(err.Error(), "year outside of range") || strings.Contains(err.Error(), "json") {
				return // an odd time that JSON can hold but not write
			}
			t.Fatalf("read but cannot be written: %v", err)
		}
		again, err := parseLine(bytes.TrimSpace(buf.Bytes()))
		if err != nil {
			t.Fatalf("written but cannot be read: %v\n%s", err, buf.Bytes())
		}
		var buf2 bytes.Buffer
		if err := appendRecord(&buf2, again); err != nil || !bytes.Equal(buf.Bytes(), buf2.Bytes()) {
			t.Fatalf("not stable:\n%s%s%v", buf.Bytes(), buf2.Bytes(), err)
		}
	})
}

func BenchmarkWriteFile(b *testing.B) {
	recs := worldtest.Records(worldtest.Options{Seed: 1}, 20000)
	w := NewFile(io.Discard, Header{})
	b.ReportAllocs()
	for i := range b.N {
		w.Write(recs[i%len(recs)])
	}
}

func BenchmarkReadFile(b *testing.B) {
	lines := bytes.Split(written(b, worldtest.Records(worldtest.Options{Seed: 1}, 20000)...), []byte("\n"))
	lines = slices.DeleteFunc(lines[1:], func(l []byte) bool { return len(l) == 0 })
	b.ReportAllocs()
	for i := range b.N {
		parseLine(lines[i%len(lines)])
	}
}
