package clusterroleaggregation_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/components/controller/clusterroleaggregation"
	"example.com/kubeviz/engine/kinds"
)

func started(t *testing.T) *apitest.Cluster {
	c := apitest.New(t)
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(10 * time.Second)
	return c
}

func roleOf(c *apitest.Cluster, name string) *rbacv1.ClusterRole {
	c.T.Helper()
	r, ok := c.Get(kinds.ClusterRoles, "", name).(*rbacv1.ClusterRole)
	if !ok {
		c.T.Fatalf("there is no cluster role %s", name)
	}
	return r
}

func TestTheRolesForPeopleComeOutAsInARealCluster(t *testing.T) {
	data, err := os.ReadFile("../../apiserver/testdata/rbac.json") // recorded
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ ClusterRoles map[string]rbacv1.ClusterRole }
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	c := started(t)
	for _, name := range []string{"admin", "edit", "view"} {
		got, ref := roleOf(c, name), want.ClusterRoles[name]
		if len(ref.Rules) == 0 {
			t.Fatalf("the reference has no rules of %s", name)
		}
		g, _ := json.Marshal(got.Rules)
		w, _ := json.Marshal(ref.Rules)
		if string(g) != string(w) {
			t.Errorf("%s may\n%s\nwant\n%s", name, g, w)
		}
		if !slices.ContainsFunc(got.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
			return m.Manager == "clusterrole-aggregation-controller" && m.Operation == metav1.ManagedFieldsOperationApply && strings.Contains(string(m.FieldsV1.GetRawBytes()), "f:rules")
		}) {
			t.Errorf("the rules of %s are not the controller's: %+v", name, got.ManagedFields)
		}
	}
	from := c.Journal.Last()
	c.Run(time.Minute)
	for _, l := range c.LogSince(from) {
		if strings.Contains(l, "clusterroles") {
			t.Errorf("at rest: %s", l)
		}
	}
}

func TestAGatheredRoleFollowsThoseItIsMadeOf(t *testing.T) {
	c := started(t)
	rule := func(resource string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{"stable.example.com"}, Resources: []string{resource}, Verbs: []string{"get"}}
	}
	count := func(name string) (crons, all int) {
		for _, r := range roleOf(c, name).Rules {
			if slices.Contains(r.APIGroups, "stable.example.com") {
				crons++
			}
		}
		return crons, len(roleOf(c, name).Rules)
	}
	_, before := count("view")
	c.Create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "cron-viewer", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		Rules: []rbacv1.PolicyRule{rule("crontabs"), rule("crontabs"), rule("cronlists")}})
	c.Run(5 * time.Second)
	for _, name := range []string{"view", "edit", "admin"} { // view goes into edit, edit into admin
		if n, _ := count(name); n != 2 {
			t.Errorf("%s has %d of the two new rules", name, n)
		}
	}
	c.Update(kinds.ClusterRoles, "", "cron-viewer", "", func(o kinds.Object) { o.SetLabels(nil) })
	c.Run(5 * time.Second)
	if n, all := count("view"); n != 0 || all != before {
		t.Errorf("view keeps %d rules of a role that goes into it no more; it has %d, had %d", n, all, before)
	}
	// Whoever writes rules into a gathered role does so in vain.
	c.Update(kinds.ClusterRoles, "", "view", "", func(o kinds.Object) {
		r := o.(*rbacv1.ClusterRole)
		r.Rules = append(r.Rules, rule("mine"))
	})
	c.Run(5 * time.Second)
	if n, _ := count("view"); n != 0 {
		t.Error("view keeps a rule that was written into it")
	}
}

func TestRulesAreGatheredSelectorBySelectorAndByName(t *testing.T) {
	role := func(name, label string, resources ...string) *rbacv1.ClusterRole {
		r := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: "true"}}}
		for _, x := range resources {
			r.Rules = append(r.Rules, rbacv1.PolicyRule{Resources: []string{x}, Verbs: []string{"get"}})
		}
		return r
	}
	sel := func(label string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{label: "true"}}
	}
	whole := role("all", "b", "never")
	whole.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{sel("b"), sel("a")}}
	rules, from, err := clusterroleaggregation.Gather(whole, []*rbacv1.ClusterRole{role("1", "a", "pods"), whole, role("2", "b", "nodes", "pods"), role("3", "b", "jobs"), role("4", "c", "leases")})
	var got []string
	for _, r := range rules {
		got = append(got, r.Resources[0])
	}
	if s := strings.Join(got, " "); err != nil || s != "nodes pods jobs" || from != 3 {
		t.Errorf("%v: %s of %d", err, s, from)
	}
	whole.AggregationRule.ClusterRoleSelectors[0].MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "x", Operator: "Nope"}}
	if _, _, err := clusterroleaggregation.Gather(whole, nil); err == nil {
		t.Error("a selector that makes no sense is taken")
	}
}
