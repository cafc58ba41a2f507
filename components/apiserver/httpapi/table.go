package httpapi

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/kubeviz/engine/kinds"
)

// table shows objects as rows. Ages are simulated, so cells need no shift.
func (c *call) table(s Served, objs []kinds.Object, lm metav1.ListMeta, columns bool) *metav1.Table {
	t := &metav1.Table{ListMeta: lm, Rows: make([]metav1.TableRow, len(objs))}
	t.SetGroupVersionKind(c.out.group.WithKind("Table"))
	cols := kinds.Columns(s.Kind)
	t.ColumnDefinitions = []metav1.TableColumnDefinition{}
	if columns {
		for i, col := range cols {
			d := metav1.TableColumnDefinition{Name: columnName(col.Name), Type: "string"}
			if i == 0 && col.Name == "NAME" {
				d.Format = "name"
			}
			if col.Wide {
				d.Priority = 1
			}
			t.ColumnDefinitions = append(t.ColumnDefinitions, d)
		}
	}
	now := c.h.cfg.Now()
	for i, o := range objs {
		row := &t.Rows[i]
		row.Cells = make([]any, len(cols))
		for j, col := range cols {
			row.Cells[j] = col.Cell(o, now)
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

// columnName is a header as the real server names the column.
func columnName(header string) string {
	words := strings.Fields(strings.ToLower(header))
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}
