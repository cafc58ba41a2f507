package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// line is the form of a record in a file: one JSON object on one line, keys in this order.
type line struct {
	Seq   event.Seq       `json:"n"`
	At    time.Time       `json:"t"` // simulated, UTC
	Wall  time.Time       `json:"w,omitzero"`
	Actor event.Actor     `json:"a,omitempty"`
	Cause event.Seq       `json:"c,omitempty"`
	Name  string          `json:"e"`
	Data  json.RawMessage `json:"d,omitempty"`
}

// objectLine is ObjectChanged with its object as a Kubernetes manifest.
type objectLine struct {
	event.ObjectChanged
	Object json.RawMessage
	// Resource is the plural of a kind that no table knows, with which its row can be made again.
	Resource string `json:",omitempty"`
}

// appendRecord writes r as a line with its line feed. Equal records give equal bytes.
func appendRecord(buf *bytes.Buffer, r event.Record) error {
	data, err := encodeEvent(r.Event)
	if err != nil {
		return fmt.Errorf("journal: write record %d (%s): %w", r.Seq, r.Event.Name(), err)
	}
	l := line{Seq: r.Seq, At: r.At.UTC().Round(0), Actor: r.Actor, Cause: r.Cause, Name: r.Event.Name(), Data: data}
	if !r.Wall.IsZero() {
		l.Wall = r.Wall.UTC().Round(0)
	}
	// an Encoder ends the line by itself; & < > stay readable
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return fmt.Errorf("journal: write record %d (%s): %w", r.Seq, l.Name, err)
	}
	return nil
}

func encodeEvent(e event.Event) (json.RawMessage, error) {
	switch e := e.(type) {
	case event.Unknown:
		return e.Raw, nil
	case event.ObjectChanged:
		obj, err := encodeObject(e.Object)
		if err != nil {
			return nil, err
		}
		l := objectLine{ObjectChanged: e, Object: obj}
		if c, ok := e.Object.(*kinds.Custom); ok {
			l.Resource = c.Row().Resource
		}
		return marshal(l)
	default:
		return marshal(e)
	}
}

// marshal is json.Marshal that leaves <, > and & readable.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// encodeObject writes a Kubernetes object with apiVersion and kind in front, whether or not its TypeMeta is filled in.
func encodeObject(obj kinds.Object) (json.RawMessage, error) {
	if obj == nil {
		return nil, errors.New("the fact has no object")
	}
	k, err := kinds.Of(obj)
	if err != nil {
		return nil, err
	}
	if c, ok := obj.(*kinds.Custom); ok {
		named := *c
		named.SetGroupVersionKind(k.GVK())
		return marshal(&named)
	}
	raw, err := marshal(obj)
	if err != nil {
		return nil, err
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	own, err := json.Marshal(struct {
		Kind       string `json:"kind,omitempty"`
		APIVersion string `json:"apiVersion,omitempty"`
	}{gvk.Kind, gvk.GroupVersion().String()})
	if err != nil {
		return nil, err
	}
	rest := bytes.TrimPrefix(raw, own[:len(own)-1]) // what TypeMeta wrote, without the closing brace
	rest = bytes.TrimLeft(rest, "{,")
	head := `{"apiVersion":` + strconv.Quote(k.APIVersion()) + `,"kind":` + strconv.Quote(k.Kind)
	if len(rest) > 1 {
		head += ","
	}
	return append([]byte(head), rest...), nil
}

// parseLine reads one line. The error does not name the line; the reader knows its number.
func parseLine(text []byte) (event.Record, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return event.Record{}, fmt.Errorf("not a record: %w", err)
	}
	switch {
	case l.Seq == 0:
		return event.Record{}, errors.New(`not a record: "n" (its number) is missing`)
	case l.Name == "":
		return event.Record{}, errors.New(`not a record: "e" (the name of the fact) is missing`)
	case l.Cause >= l.Seq:
		return event.Record{}, fmt.Errorf("record %d names record %d as its cause, which does not come before it", l.Seq, l.Cause)
	}
	r := event.Record{Seq: l.Seq, At: l.At.UTC(), Actor: l.Actor, Cause: l.Cause}
	if !l.Wall.IsZero() {
		r.Wall = l.Wall.UTC()
	}
	row, ok := registry[l.Name]
	if !ok {
		r.Event = event.Unknown{Event: l.Name, Raw: l.Data}
		return r, nil
	}
	if l.Data == nil {
		l.Data = json.RawMessage("{}")
	}
	e, err := row.decode(l.Data)
	if err != nil {
		return event.Record{}, fmt.Errorf("record %d (%s): %w", l.Seq, l.Name, err)
	}
	r.Event = e
	return r, nil
}

// decodeObjectChanged reads the object by the kind it names. An object of a kind that this program does not know is kept whole as an Unknown.
func decodeObjectChanged(raw json.RawMessage) (event.Event, error) {
	var l objectLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, err
	}
	var t struct{ APIVersion, Kind string }
	if err := json.Unmarshal(l.Object, &t); err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	gvk := schema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
	k, err := kinds.ForGVK(gvk)
	if err != nil && l.Resource != "" && gvk.Group != "" {
		var m struct{ Metadata struct{ Namespace string } }
		if err := json.Unmarshal(l.Object, &m); err != nil {
			return nil, fmt.Errorf("object: %w", err)
		}
		k, err = kinds.Defined(gvk.Group, gvk.Version, gvk.Kind, l.Resource, m.Metadata.Namespace != ""), nil
	}
	if err != nil {
		return event.Unknown{Event: event.ObjectChanged{}.Name(), Raw: raw}, nil
	}
	obj := k.New()
	if err := json.Unmarshal(l.Object, obj); err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as objects are in memory: the Go type says it
	l.ObjectChanged.Object = obj
	return l.ObjectChanged, nil
}
