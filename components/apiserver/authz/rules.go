package authz

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	rbacvalidation "k8s.io/component-helpers/auth/rbac/validation"
)

// star stands for everything, in each part of a rule.
const star = "*"

// allows tells whether one rule permits what is asked (k/k plugin/pkg/auth/authorizer/rbac).
func allows(rule *rbacv1.PolicyRule, a *Attributes) bool {
	if !holds(rule.Verbs, a.Verb) {
		return false
	}
	if a.Path != "" {
		return slices.ContainsFunc(rule.NonResourceURLs, func(url string) bool { return pathMatches(url, a.Path) })
	}
	return holds(rule.APIGroups, a.Group) && covers(rule.Resources, a.Resource, a.Subresource) && (len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}

func holds(list []string, v string) bool {
	for _, have := range list {
		if have == v || have == star {
			return true
		}
	}
	return false
}

// covers compares without building "pods/status": that is done for each rule of each request.
func covers(resources []string, resource, subresource string) bool {
	for _, have := range resources {
		if have == star {
			return true
		}
		if subresource == "" {
			if have == resource {
				return true
			}
			continue
		}
		if len(have) <= len(subresource) || have[len(have)-len(subresource)-1] != '/' || have[len(have)-len(subresource):] != subresource {
			continue
		}
		if first := have[:len(have)-len(subresource)-1]; first == star || first == resource {
			return true
		}
	}
	return false
}

func pathMatches(pattern, path string) bool {
	return pattern == star || pattern == path || (strings.HasSuffix(pattern, star) && strings.HasPrefix(path, strings.TrimRight(pattern, star)))
}

// anyAllows tells whether one of the rules permits what is asked.
func anyAllows(rules []rbacv1.PolicyRule, a *Attributes) bool {
	for i := range rules {
		if allows(&rules[i], a) {
			return true
		}
	}
	return false
}

// Missing tells, rule by rule, what of the wanted rights the held ones do not give; empty: all are held. Sorted, as the refusal of an escalation lists them.
func Missing(held, wanted []rbacv1.PolicyRule) []string {
	ok, missing := rbacvalidation.Covers(held, wanted)
	if ok {
		return nil
	}
	texts := map[string]bool{}
	for _, r := range compact(missing) {
		texts[describe(&r)] = true
	}
	return slices.Sorted(maps.Keys(texts))
}

// compact joins rules about one and the same resource that differ in their verbs alone.
func compact(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	type about struct {
		group, resource, name string
		named                 bool
	}
	var out []rbacv1.PolicyRule
	at := map[about]int{}
	for _, r := range rules {
		if len(r.APIGroups) != 1 || len(r.Resources) != 1 || len(r.ResourceNames) > 1 || len(r.NonResourceURLs) > 0 {
			out = append(out, r)
			continue
		}
		key := about{group: r.APIGroups[0], resource: r.Resources[0]}
		if len(r.ResourceNames) == 1 {
			key.name, key.named = r.ResourceNames[0], true
		}
		if i, ok := at[key]; ok {
			out[i].Verbs = append(out[i].Verbs, r.Verbs...)
			continue
		}
		at[key] = len(out)
		r.Verbs = slices.Clone(r.Verbs)
		out = append(out, r)
	}
	return out
}

// describe is a rule in the short form of refusals.
func describe(r *rbacv1.PolicyRule) string {
	var parts []string
	for _, p := range []struct {
		name   string
		values []string
	}{{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs}, {"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs}} {
		if len(p.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", p.name, p.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
