package httpapi

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
)

// table shows objects as rows. Ages are simulated, so cells need no shift.
func (c *call) table(s Served, objs []kinds.Object, lm metav1.ListMeta, heads bool) *metav1.Table {
	t := &metav1.Table{ListMeta: lm, Rows: make([]metav1.TableRow, len(objs))}
	t.SetGroupVersionKind(c.out.group.WithKind("Table"))
	cols := columns.Of(s.Kind)
	t.ColumnDefinitions = []metav1.TableColumnDefinition{}
	if heads {
		for _, col := range cols {
			t.ColumnDefinitions = append(t.ColumnDefinitions, metav1.TableColumnDefinition{Name: col.Name, Type: col.Type, Format: col.Format, Description: col.Description, Priority: col.Priority})
		}
	}
	now := c.h.cfg.Now()
	values := make([]func(kinds.Object, time.Time) any, len(cols))
	for j, col := range cols {
		if values[j] = col.Value; col.Among != nil {
			values[j] = col.Among(objs)
		}
	}
	for i, o := range objs {
		row := &t.Rows[i]
		row.Cells = make([]any, len(cols))
		for j, value := range values {
			row.Cells[j] = c.cell(value(o, now))
		}
		switch c.out.rows {
		case metav1.IncludeObject:
			row.Object = runtime.RawExtension{Object: c.seen(s, kinds.Subresource{}, o)}
		case metav1.IncludeNone:
		default:
			p := meta.AsPartialObjectMetadata(o)
			p.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
			row.Object = runtime.RawExtension{Object: c.shift.Out(p)}
		}
	}
	return t
}

// cell is a value as a Table holds it: dates are texts, at the client's time.
func (c *call) cell(v any) any {
	if at, ok := v.(time.Time); ok {
		return columns.Date(c.shift.Time(at))
	}
	return v
}
