// Package table makes the metav1.Table that a client gets which asks for one: the columns and cells of engine/kinds/columns, each row with as much of its object as was
// asked for.
//
// A metav1.Status is never made a Table: the real server answers errors, and what a delete says, as they are, whatever was asked for.
//
// Imports engine/kinds. Goroutines: any; objects are only read. Time: the caller's "now".
package table

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
)

// Options of a Table.
type Options struct {
	Columns []columns.Column
	// Now is what ages are counted to, on the clock of the objects' own times. Shift is added to the dates that cells show.
	Now   time.Time
	Shift time.Duration
	// Include is how much of its object a row holds; empty means its metadata.
	Include metav1.IncludeObjectPolicy
	// NoHeaders leaves the columns' descriptions out, as in all but the first answer of a watch.
	NoHeaders bool
	// Version of meta.k8s.io that was asked for; empty means v1.
	Version string
	// Embed makes what a row holds fit to be sent: it gets the object itself, or the PartialObjectMetadata made of it, whose maps and lists are the object's own. It must
	// not change what it gets. Nil sends it as it is.
	Embed func(runtime.Object) runtime.Object
}

func (o *Options) version() schema.GroupVersion {
	if o.Version == "" {
		return metav1.SchemeGroupVersion
	}
	return schema.GroupVersion{Group: metav1.GroupName, Version: o.Version}
}

// Of makes the Table of one object.
func Of(obj kinds.Object, o Options) *metav1.Table {
	t := o.empty()
	t.ResourceVersion = obj.GetResourceVersion()
	t.Rows = []metav1.TableRow{o.row(obj, cells(o.Columns, nil))}
	return t
}

// OfList makes the Table of a list, whose resourceVersion, continue token and count of remaining objects it takes over.
func OfList(list []kinds.Object, of metav1.ListMeta, o Options) *metav1.Table {
	t := o.empty()
	t.ListMeta = of
	t.Rows = make([]metav1.TableRow, len(list)) // never nil: an empty Table has "rows": []
	values := cells(o.Columns, list)
	for i, obj := range list {
		t.Rows[i] = o.row(obj, values)
	}
	return t
}

func (o *Options) empty() *metav1.Table {
	t := &metav1.Table{TypeMeta: metav1.TypeMeta{APIVersion: o.version().String(), Kind: "Table"}}
	if o.NoHeaders {
		return t
	}
	t.ColumnDefinitions = make([]metav1.TableColumnDefinition, len(o.Columns))
	for i := range o.Columns {
		c := &o.Columns[i]
		t.ColumnDefinitions[i] = metav1.TableColumnDefinition{Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority}
	}
	return t
}

// value is a cell of an object at an instant.
type value = func(kinds.Object, time.Time) any

// cells are the columns' values, of an object alone or of one in a list.
func cells(all []columns.Column, list []kinds.Object) []value {
	out := make([]value, len(all))
	for i := range all {
		out[i] = all[i].Value
		if list != nil && all[i].Among != nil {
			out[i] = all[i].Among(list)
		}
	}
	return out
}

func (o *Options) row(obj kinds.Object, values []value) metav1.TableRow {
	r := metav1.TableRow{Cells: make([]any, len(values)), Conditions: columns.Conditions(obj)}
	for i, v := range values {
		r.Cells[i] = v(obj, o.Now)
		if t, ok := r.Cells[i].(time.Time); ok {
			if !t.IsZero() {
				t = t.Add(o.Shift)
			}
			r.Cells[i] = columns.Date(t)
		}
	}
	r.Object.Object = o.embedded(obj)
	return r
}

// embedded is what the row holds of its object. The bookmark that ends a watch's initial events must be known as such, so that it keeps its metadata at least.
func (o *Options) embedded(obj kinds.Object) runtime.Object {
	var out runtime.Object
	switch {
	case o.Include == metav1.IncludeObject:
		out = obj
	case o.Include == metav1.IncludeNone && obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true":
		return nil
	default:
		m := meta.AsPartialObjectMetadata(obj)
		m.SetGroupVersionKind(o.version().WithKind("PartialObjectMetadata"))
		out = m
	}
	if o.Embed != nil {
		out = o.Embed(out)
	}
	return out
}
