package httpapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/kubeviz/components/apiserver/httpapi/table"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
)

// table shows one object as a row. Ages are counted on the simulated clock; dates are the client's.
func (c *call) table(s Served, obj kinds.Object, heads bool) *metav1.Table {
	o := c.tableOptions(s)
	o.NoHeaders = !heads
	return table.Of(obj, o)
}

// tableOfList shows a list as rows.
func (c *call) tableOfList(s Served, list []kinds.Object, lm metav1.ListMeta) *metav1.Table {
	return table.OfList(list, lm, c.tableOptions(s))
}

func (c *call) tableOptions(s Served) table.Options {
	now := c.h.cfg.Now()
	cols := columns.Of(s.Kind)
	if s.Kind.Custom != nil && s.Kind.Custom.Version != nil {
		cols, _ = columns.Custom(s.Kind.Custom.Version) // what cannot be read is left out
	}
	return table.Options{Columns: cols, Now: now, Shift: c.shift.Distance(), Include: c.out.rows, Version: c.out.group.Version,
		Embed: func(obj runtime.Object) runtime.Object {
			if o, ok := obj.(kinds.Object); ok && c.out.rows == metav1.IncludeObject {
				return c.seen(s, o)
			}
			return c.shift.Out(obj)
		}}
}
