package objectview

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/layout"
)

// plan is where the parts of the view lie.
type plan struct {
	// kinds is the list at the left, or the strip above where there is no room (strip).
	kinds               layout.Rect
	strip               bool
	title, header, rows layout.Rect
	foot, preview       layout.Rect
}

// The widths from which the list of kinds stands at the left, and the chosen object is shown beside the table.
const (
	listFrom, previewFrom = 100, 160
	listWidth             = 23
)

func layOut(w, h int) plan {
	p := plan{strip: w < listFrom}
	area := layout.Rect{W: w, H: h}
	if p.strip {
		foot := 1
		if h >= 16 {
			foot = 2
		}
		r := area.Rows(layout.Fixed(1), layout.Fixed(1), layout.Fixed(1), layout.Fill(1), layout.Fixed(foot))
		p.kinds, p.title, p.header, p.rows, p.foot = r[0], r[1], r[2], r[3], r[4]
		return p
	}
	cols := area.Cols(layout.Fixed(listWidth), layout.Fixed(1), layout.Fill(1))
	p.kinds, area = cols[0], cols[2]
	if w >= previewFrom && h >= 12 {
		cols = area.Cols(layout.Fill(11), layout.Fixed(1), layout.Fill(9))
		area, p.preview = cols[0], cols[2]
	}
	r := area.Rows(layout.Fixed(1), layout.Fixed(1), layout.Fill(1), layout.Fixed(2))
	p.title, p.header, p.rows, p.foot = r[0], r[1], r[2], r[3]
	return p
}

// column is one on the screen.
type column struct {
	columns.Column
	index    int // among all that could be shown
	x, width int
}

// columnsOf lists the columns that a table has, whether they fit or not. Where there is little room, the message of an Event is worth more than its namespace.
func (v View) columnsOf(k *kinds.Kind, w int) []columns.Column {
	var out []columns.Column
	if v.namespace == "" && k.Namespaced && !(k == kinds.Events && w < listFrom) {
		out = append(out, columns.Namespace)
	}
	for _, c := range columns.Of(k) {
		if v.wide || !c.Wide() {
			out = append(out, c)
		}
	}
	return out
}

// widths are fixed by the name of a column, so that nothing moves while one scrolls; names and sentences take what is left.
var widths = map[string]int{
	"NAMESPACE": 11, "READY": 5, "STATUS": 17, "RESTARTS": 14, "AGE": 6, "IP": 13, "NODE": 12, "NOMINATED NODE": 14, "READINESS GATES": 15, "ROLES": 14, "VERSION": 9,
	"INTERNAL-IP": 13, "EXTERNAL-IP": 11, "OS-IMAGE": 20, "KERNEL-VERSION": 22, "CONTAINER-RUNTIME": 20, "UP-TO-DATE": 10, "AVAILABLE": 9, "CONTAINERS": 16, "IMAGES": 26,
	"SELECTOR": 30, "DESIRED": 7, "CURRENT": 7, "LAST SEEN": 9, "TYPE": 7, "REASON": 18, "SUBOBJECT": 22, "SOURCE": 22, "FIRST SEEN": 10, "COUNT": 5,
	"CLUSTER-IP": 13, "PORT(S)": 20, "DATA": 5, "COMPLETIONS": 11, "DURATION": 8, "SUSPEND": 7, "ACTIVE": 6, "ADDRESSTYPE": 11, "PORTS": 9, "MINPODS": 7, "MAXPODS": 7, "REPLICAS": 8,
	"CREATED AT": 20, "CAPACITY": 8, "VALUE": 11, "REVISION": 8, "ATTACHED": 8, "DRIVERS": 7, "WEBHOOKS": 8,
}

// The columns that take what is left: at least, and at most.
var flexible = map[string][2]int{"NAME": {20, 44}, "HOLDER": {16, 60}, "MESSAGE": {24, 200}, "OBJECT": {17, 40}, "ENDPOINTS": {20, 60}, "TARGETS": {16, 40}, "HOSTS": {16, 60},
	"REQUEST": {20, 90}, "LIMIT": {20, 60}, "CONTROLLER": {16, 48}, "ROLE": {20, 60}, "PROVISIONER": {16, 48}, "CLAIM": {16, 48}}

// lead is what stands before the first column: the marker and the state.
const lead = 4

// fit places the columns. Where not all fit, those that name the object stay, and the others begin so far to the right that the cursor's is seen.
func fit(all []columns.Column, p plan, cursor int) []column {
	room, gap := p.rows.W-lead-1, 1
	if p.rows.W >= 100 {
		gap = 2
	}
	out := make([]column, len(all))
	need, grow := 0, 0
	for i, c := range all {
		out[i] = column{Column: c, index: i, width: widthOf(c.Header)}
		if c.Header == "RESTARTS" && room < 90 { // a name says more than when the last restart was
			out[i].width = len(c.Header)
		}
		if f, ok := flexible[c.Header]; ok {
			out[i].width = f[0]
			grow += f[1] - f[0]
		}
		need += out[i].width + gap
	}
	spare := max(room-need+gap, 0)
	for i := range out { // what is left goes to those that can use it, by how much they can use
		if f, ok := flexible[out[i].Header]; ok && grow > 0 {
			more := min(spare*(f[1]-f[0])/grow, f[1]-f[0])
			spare -= more
			grow -= f[1] - f[0]
			out[i].width += more
		}
	}
	pinned := 1 + slices.IndexFunc(all, func(c columns.Column) bool { return c.Header == "NAME" })
	if pinned > 2 {
		pinned = 0
	}
	from := pinned
	for ; from < cursor && from < len(out)-1; from++ {
		x := 0
		for i := range out {
			if i < pinned || i >= from && i <= cursor {
				x += out[i].width + gap
			}
		}
		if x-gap <= room {
			break
		}
	}
	x := lead
	var placed []column
	for i := range out {
		if i >= pinned && i < from || x >= p.rows.W {
			continue
		}
		out[i].x = x
		x += out[i].width + gap
		placed = append(placed, out[i])
	}
	return placed
}

func widthOf(name string) int {
	if w, ok := widths[name]; ok {
		return w
	}
	return max(len(name), 12)
}

// nextColumn is the column to sort by after one; "" is the store's order, which comes after the last.
func nextColumn(list []columns.Column, after string) string {
	if after == "" {
		return list[0].Header
	}
	for i, c := range list {
		if c.Header == after && i+1 < len(list) {
			return list[i+1].Header
		}
	}
	return ""
}

// nodeOf is the node of a pod.
func nodeOf(o *world.Object) (string, bool) {
	if p, ok := o.Object.(*corev1.Pod); ok {
		return p.Spec.NodeName, true
	}
	return "", false
}
