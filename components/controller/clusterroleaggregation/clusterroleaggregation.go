// Package clusterroleaggregation gathers the rules of cluster roles that are made of others: admin, edit and view, and those that users add
// (k/k pkg/controller/clusterroleaggregation).
//
// A role with an aggregation rule is everything that the roles with the right labels allow: selector by selector, in each by name, every rule once. The rules are written by server-side
// apply, so that they belong to the controller and whoever wrote the role is not told of a conflict.
//
// Owns: the rules of cluster roles that have an aggregation rule. Imports of ours: components/kubeapi, components/reconcile, components/controller/informers, engine/kinds.
// Goroutines: the loop. Time: simulated.
package clusterroleaggregation

import (
	"encoding/json"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/kinds"
)

// Workers is how many roles are worked on at a time.
const Workers = 5

// manager owns the rules that are gathered.
const manager = "clusterrole-aggregation-controller"

// Controller is the clusterrole-aggregation-controller. Its keys are names of cluster roles.
type Controller struct {
	in *informers.Informers
	*reconcile.Controller
}

// New makes the controller and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	client := *pr.Client
	client.Manager = manager
	own := *pr
	own.Client = &client
	c := &Controller{in: in}
	c.Controller = reconcile.New(&own, "clusterrole_aggregation", c)
	in.ClusterRoles.Handle(func(ch kubeapi.Change[*rbacv1.ClusterRole]) {
		// Which of them a changed role goes into is found out by looking at all, as there are few; a role of several gathered ones goes on into others that way.
		in.ClusterRoles.Each(func(r *rbacv1.ClusterRole) bool {
			if r.AggregationRule != nil {
				c.Add(kubeapi.KeyOf(r), ch.Cause)
			}
			return true
		})
	})
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() { c.Controller.Start(Workers) }

// Reconcile writes the rules of one role, unless they are those that it is to have.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	role, ok := c.in.ClusterRoles.Get(key)
	if !ok || role.AggregationRule == nil {
		return reconcile.Done, nil
	}
	rules, from, err := Gather(role, c.in.ClusterRoles.All())
	if err != nil {
		return reconcile.Done, fmt.Errorf("rules of cluster role %s: %w", role.Name, err)
	}
	if apiequality.Semantic.DeepEqual(rules, role.Rules) {
		return reconcile.Done, nil
	}
	ps.Decide("give cluster role %s the %d rules of %d others", role.Name, len(rules), from)
	if err := apply(ps, role.Name, rules); err != nil {
		return reconcile.Done, fmt.Errorf("rules of cluster role %s: %w", role.Name, err)
	}
	return reconcile.Done, nil
}

// Gather lists the rules that a role is to have, and from how many of the roles they are. roles are sorted by name.
func Gather(role *rbacv1.ClusterRole, roles []*rbacv1.ClusterRole) (rules []rbacv1.PolicyRule, from int, err error) {
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, 0, err
		}
		for _, r := range roles {
			if r.Name == role.Name || !selector.Matches(labels.Set(r.Labels)) {
				continue
			}
			from++
			for _, rule := range r.Rules {
				if !slices.ContainsFunc(rules, func(have rbacv1.PolicyRule) bool { return apiequality.Semantic.DeepEqual(have, rule) }) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules, from, nil
}

// configuration is what the controller wants of a role: its rules and nothing else. An empty list takes the rules away that it gave before.
type configuration struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Rules []rbacv1.PolicyRule `json:"rules,omitempty"`
}

func apply(ps *reconcile.Pass, name string, rules []rbacv1.PolicyRule) error {
	want := configuration{TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kinds.ClusterRoles.Kind}, Rules: rules}
	want.Metadata.Name = name
	body, err := json.Marshal(want)
	if err != nil {
		return err
	}
	_, err = ps.Client.Do(ps.Proc, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.ClusterRoles, Name: name, PatchType: types.ApplyPatchType, Patch: body, Force: true})
	return err
}
