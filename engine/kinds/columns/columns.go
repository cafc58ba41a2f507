// Package columns is what `kubectl get` shows of each kind: the columns of its Table, and the cell of an object in each. The screen, kubectl inside and the HTTP front
// read the same description, so that they cannot disagree.
//
// Names, types, formats and priorities are those that a v1.37 API server sends (testdata/columns.json is recorded from one). Where the declared type and the kind of
// value differ, as in the counts of a Deployment, that is the real server's way too.
//
// Imports engine/kinds. Goroutines: the table is immutable after init, cells are pure. Time: the caller's "now".
package columns

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"example.com/kubeviz/engine/kinds"
)

// Column of the table of a kind.
type Column struct {
	// Header is Name in capital letters, as it is printed.
	Header string
	// Name, Type, Format, Priority and Description are what a Table says of the column. Only -o wide prints one whose priority is above 0.
	Name, Type, Format, Description string
	Priority                        int32
	// Value is the cell of an object at an instant: a string, an int64, a float64, a bool, a time.Time that is to be printed as a date, or nil for nothing (also of an
	// object of another type).
	Value func(o kinds.Object, now time.Time) any
	// Rank is what the column sorts by; its zero value for an object of another type.
	Rank func(o kinds.Object) Rank
	// Among is Value for columns in which an object's cell depends on the others of its list; nil in all others.
	Among func(list []kinds.Object) func(o kinds.Object, now time.Time) any
}

// Rank is the place of a cell in the order of its column: by Number, then by Text.
type Rank struct {
	Number float64
	Text   string
}

// Wide reports that only -o wide shows the column.
func (c Column) Wide() bool { return c.Priority > 0 }

// Cell is the value as kubectl prints it: in one line, without anything that a terminal would act upon.
func (c Column) Cell(o kinds.Object, now time.Time) string { return Text(c.Value(o, now)) }

// Text writes a value as kubectl does.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "<none>"
	case string:
		return oneLine(v)
	case time.Time:
		return Date(v)
	}
	return fmt.Sprint(v)
}

// Date is how a column of dates is written.
func Date(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// oneLine cuts a text at its first line break and takes out what a terminal would obey. kubectl only does so with ESC; other control bytes have no place in a row either.
func oneLine(s string) string {
	plain := func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }
	if strings.IndexFunc(s, plain) < 0 {
		return s
	}
	if i := strings.IndexAny(s, "\f\n\r"); i >= 0 {
		s = s[:i] + "..."
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < ' ':
			b.WriteString("^" + string(r+'@'))
		case r == 0x7f:
			b.WriteString("^?")
		case r >= 0x80 && r < 0xa0:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Of lists the columns of a kind in kubectl's order, wide ones included. Do not change them.
func Of(k *kinds.Kind) []Column {
	if c, ok := table[k]; ok {
		return c
	}
	return Plain
}

// Plain is what a kind without columns of its own has: a name and when it was created.
var Plain = []Column{name, created}

// Namespace is what kubectl puts before the others where it lists all namespaces; it is never part of a Table.
var Namespace = of("Namespace", "string", docs["namespace"], func(o kinds.Object, _ time.Time) any { return o.GetNamespace() }, func(o kinds.Object) Rank { return Rank{Text: o.GetNamespace()} })

var table = map[*kinds.Kind][]Column{
	kinds.Pods: pods, kinds.Nodes: nodes, kinds.Namespaces: namespaces, kinds.Events: events, kinds.Services: services, kinds.Endpoints: endpoints,
	kinds.ConfigMaps: configMaps, kinds.Secrets: secrets, kinds.ServiceAccounts: serviceAccounts, kinds.ReplicationControllers: replicationControllers,
	kinds.PodTemplates: podTemplates, kinds.ResourceQuotas: resourceQuotas, kinds.PersistentVolumes: persistentVolumes, kinds.PersistentVolumeClaims: persistentVolumeClaims,
	kinds.Deployments: deployments, kinds.ReplicaSets: replicaSets, kinds.StatefulSets: statefulSets, kinds.DaemonSets: daemonSets, kinds.ControllerRevisions: controllerRevisions,
	kinds.Jobs: jobs, kinds.CronJobs: cronJobs, kinds.HorizontalPodAutoscalers: horizontalPodAutoscalers, kinds.PodDisruptionBudgets: podDisruptionBudgets,
	kinds.Leases: leases, kinds.EndpointSlices: endpointSlices, kinds.Ingresses: ingresses, kinds.IngressClasses: ingressClasses, kinds.NetworkPolicies: networkPolicies,
	kinds.IPAddresses: ipAddresses, kinds.ServiceCIDRs: serviceCIDRs, kinds.StorageClasses: storageClasses, kinds.VolumeAttachments: volumeAttachments,
	kinds.VolumeAttributesClasses: volumeAttributesClasses, kinds.CSIDrivers: csiDrivers, kinds.CSINodes: csiNodes, kinds.PriorityClasses: priorityClasses,
	kinds.RuntimeClasses: runtimeClasses, kinds.RoleBindings: roleBindings, kinds.ClusterRoleBindings: clusterRoleBindings,
	kinds.CertificateSigningRequests: certificateSigningRequests, kinds.CustomResourceDefinitions: customResourceDefinitions,
	kinds.NodeMetrics: usageColumns, kinds.PodMetrics: usageColumns,
	kinds.ValidatingAdmissionPolicies: validatingAdmissionPolicies, kinds.ValidatingAdmissionPolicyBindings: validatingAdmissionPolicyBindings,
	kinds.MutatingAdmissionPolicies: mutatingAdmissionPolicies, kinds.MutatingAdmissionPolicyBindings: mutatingAdmissionPolicyBindings,
	kinds.ValidatingWebhookConfigurations: validatingWebhooks, kinds.MutatingWebhookConfigurations: mutatingWebhooks,
	kinds.ComponentStatuses: componentStatuses,
}

// docs describes the fields that all objects have.
var docs = metav1.ObjectMeta{}.SwaggerDoc()

var (
	name    = named(of("Name", "string", docs["name"], func(o kinds.Object, _ time.Time) any { return o.GetName() }, func(o kinds.Object) Rank { return Rank{Text: o.GetName()} }))
	age     = of("Age", "string", docs["creationTimestamp"], func(o kinds.Object, now time.Time) any { return since(o.GetCreationTimestamp().Time, now) }, createdRank)
	created = of("Created At", "date", docs["creationTimestamp"], func(o kinds.Object, _ time.Time) any { return o.GetCreationTimestamp().Time }, createdRank)
)

func createdRank(o kinds.Object) Rank { return newest(o.GetCreationTimestamp().Time) }

func of(name, typ, doc string, value func(kinds.Object, time.Time) any, rank func(kinds.Object) Rank) Column {
	return Column{Header: strings.ToUpper(name), Name: name, Type: typ, Description: doc, Value: value, Rank: rank}
}

// typed makes a column of a Go type.
func typed[T kinds.Object](name, typ, doc string, value func(T, time.Time) any, rank func(T) Rank) Column {
	return of(name, typ, doc, func(o kinds.Object, now time.Time) any {
		if t, ok := o.(T); ok {
			return value(t, now)
		}
		return nil
	}, func(o kinds.Object) Rank {
		if t, ok := o.(T); ok {
			return rank(t)
		}
		return Rank{}
	})
}

// text is a column that sorts by what it shows.
func text[T kinds.Object](name, doc string, cell func(T) string) Column {
	return typed(name, "string", doc, func(o T, _ time.Time) any { return cell(o) }, func(o T) Rank { return Rank{Text: cell(o)} })
}

// number is a column of whole numbers.
func number[T kinds.Object, N int | int32 | int64](name, doc string, cell func(T) N) Column {
	return typed(name, "integer", doc, func(o T, _ time.Time) any { return int64(cell(o)) }, func(o T) Rank { return Rank{Number: float64(cell(o))} })
}

// boolean is a column of yes and no.
func boolean[T kinds.Object](name, doc string, cell func(T) bool) Column {
	return typed(name, "boolean", doc, func(o T, _ time.Time) any { return cell(o) }, func(o T) Rank {
		if cell(o) {
			return Rank{Number: 1}
		}
		return Rank{}
	})
}

// ago is a column of how long ago something was; the most recent sorts first.
func ago[T kinds.Object](name, doc string, at func(T) time.Time) Column {
	return typed(name, "string", doc, func(o T, now time.Time) any { return since(at(o), now) }, func(o T) Rank { return newest(at(o)) })
}

func wide(c Column) Column {
	c.Priority = 1
	return c
}

// named marks the column in which kubectl prefixes the kind where it lists several.
func named(c Column) Column {
	c.Format = "name"
	return c
}

// asString declares a string whatever the values are.
func asString(c Column) Column {
	c.Type = "string"
	return c
}

// since is how long before now something was, as kubectl writes it.
func since(t, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t))
}

// newest ranks the youngest first, as a small age is a small number.
func newest(t time.Time) Rank { return Rank{Number: -float64(t.UnixMilli())} }

// ready is "2/3", which sorts by what is ready, and with the same by what is wanted.
func ready[T kinds.Object](name, doc string, of func(T) (have, want int)) Column {
	return typed(name, "string", doc, func(o T, _ time.Time) any {
		have, want := of(o)
		return fmt.Sprintf("%d/%d", have, want)
	}, func(o T) Rank {
		have, want := of(o)
		return Rank{Number: float64(have) - float64(want)/1e6}
	})
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// deref is what p points to, or other.
func deref[T any](p *T, other T) T {
	if p == nil {
		return other
	}
	return *p
}

// few joins at most three and tells how many more there are.
func few(list []string, separator, empty string) string {
	const most = 3
	if len(list) > most {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:most], separator), len(list)-most)
	}
	return orElse(strings.Join(list, separator), empty)
}
