package kubectl

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/kinds/columns"
)

// get prints a table as kubectl does (fidelity 11), without ages' seconds drifting: ages are of the simulated clock.
func get(k *call) ([]string, error) {
	kind, name, err := k.subject()
	if err != nil {
		return nil, err
	}
	if k.flags["output"] != "" {
		return nil, errors.New("error: -o is not offered here")
	}
	ns := k.scope(kind)
	if k.flags["all-namespaces"] == "true" {
		ns = ""
	}
	var items []kinds.Object
	if name != "" {
		o, err := kubeapi.Fetch[kinds.Object](k.p, k.c, kind, ns, name)
		if err != nil {
			return nil, err
		}
		items = []kinds.Object{o}
	} else if items, _, err = kubeapi.FetchList[kinds.Object](k.p, k.c, kind, kubeapi.ListOptions{Namespace: ns}); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		if kind.Namespaced && ns != "" {
			return []string{"No resources found in " + ns + " namespace."}, nil
		}
		return []string{"No resources found"}, nil
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	everywhere := ns == "" && kind.Namespaced
	now := k.p.Now()
	fmt.Fprintln(w, row(kind, everywhere, columns.Namespace.Header, func(c columns.Column) string { return c.Header }))
	for _, o := range items {
		fmt.Fprintln(w, row(kind, everywhere, o.GetNamespace(), func(c columns.Column) string { return c.Cell(o, now) }))
	}
	w.Flush()
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines, nil
}

// row is a line of the table: the columns that are not wide, after the namespace where those of all are listed.
func row(kind *kinds.Kind, everywhere bool, namespace string, cell func(columns.Column) string) string {
	var cells []string
	if everywhere {
		cells = append(cells, namespace)
	}
	for _, c := range columns.Of(kind) {
		if !c.Wide() {
			cells = append(cells, cell(c))
		}
	}
	return strings.Join(cells, "\t")
}
