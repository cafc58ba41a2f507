package apiserver_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// as sends one request with a client's own credential.
func as(c *apitest.Cluster, cred *kubeapi.Credential, r kubeapi.Request) (resp *kubeapi.Response) {
	r.Credential = cred
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		var err error
		if resp, err = client.Transport.Do(p, &r); err != nil {
			c.T.Fatal(err)
		}
	})
	return resp
}

func message(resp *kubeapi.Response) string {
	if resp.Err == nil {
		return ""
	}
	return resp.Err.Error()
}

func person(name string, groups ...string) *kubeapi.Credential {
	return &kubeapi.Credential{Certified: kubeapi.User{Name: name, Groups: groups}}
}

var listPods = kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, Namespace: "default"}

func TestTheRolesOfANewClusterAreTheRealOnes(t *testing.T) {
	var want struct {
		ClusterRoles        map[string]rbacv1.ClusterRole
		ClusterRoleBindings map[string]rbacv1.ClusterRoleBinding
		Roles               map[string]rbacv1.Role
		RoleBindings        map[string]rbacv1.RoleBinding
	}
	data, err := os.ReadFile("testdata/rbac.json")
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := apitest.New(t, apitest.Masters(3))
	count := 0
	for _, k := range []*kinds.Kind{kinds.ClusterRoles, kinds.ClusterRoleBindings, kinds.Roles, kinds.RoleBindings} {
		for _, obj := range c.List(k) {
			count++
			if obj.GetLabels()["kubernetes.io/bootstrapping"] != "rbac-defaults" || obj.GetAnnotations()[rbacv1.AutoUpdateAnnotationKey] != "true" {
				t.Errorf("%s %s does not say that it belongs to the defaults", k, kinds.RefOf(obj))
			}
			at := kinds.RefOf(obj).String()
			var got, ref any
			switch o := obj.(type) {
			case *rbacv1.ClusterRole:
				w := want.ClusterRoles[at]
				if w.AggregationRule != nil {
					w.Rules = nil // the controller manager gathers them
				}
				got, ref = [2]any{o.Rules, o.AggregationRule}, [2]any{w.Rules, w.AggregationRule}
			case *rbacv1.ClusterRoleBinding:
				w := want.ClusterRoleBindings[at]
				got, ref = [2]any{o.RoleRef, o.Subjects}, [2]any{w.RoleRef, w.Subjects}
			case *rbacv1.Role:
				got, ref = o.Rules, want.Roles[at].Rules
			case *rbacv1.RoleBinding:
				w := want.RoleBindings[at]
				got, ref = [2]any{o.RoleRef, o.Subjects}, [2]any{w.RoleRef, w.Subjects}
			}
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(ref)
			if norm(g) != norm(w) {
				t.Errorf("%s %s:\ngot  %s\nwant %s", k, at, g, w)
			}
		}
	}
	if all := len(want.ClusterRoles) + len(want.ClusterRoleBindings) + len(want.Roles) + len(want.RoleBindings); count != all {
		t.Errorf("there are %d roles and bindings, want %d", count, all)
	}
}

func norm(b []byte) string { return strings.ReplaceAll(string(b), "[]", "null") }

func TestAServerMendsRolesAtItsStartUnlessTheySayNo(t *testing.T) {
	c := apitest.New(t)
	change := func(name string, fn func(*rbacv1.ClusterRole)) {
		c.Update(kinds.ClusterRoles, "", name, "", func(o kinds.Object) { fn(o.(*rbacv1.ClusterRole)) })
	}
	change("system:kube-dns", func(r *rbacv1.ClusterRole) { r.Rules = nil })
	change("system:heapster", func(r *rbacv1.ClusterRole) {
		r.Rules, r.Annotations[rbacv1.AutoUpdateAnnotationKey] = nil, "false"
	})
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Remove(p, client, kinds.ClusterRoleBindings, "", "system:kube-dns", nil); err != nil {
			t.Error(err)
		}
	})
	c.KillServer("master-1")
	c.StartServer("master-1")
	c.Run(5 * time.Second)
	if r := c.Get(kinds.ClusterRoles, "", "system:kube-dns").(*rbacv1.ClusterRole); len(r.Rules) == 0 {
		t.Error("the role has not its rules again")
	}
	if r := c.Get(kinds.ClusterRoles, "", "system:heapster").(*rbacv1.ClusterRole); len(r.Rules) != 0 {
		t.Error("a role that is not to be touched was")
	}
	if c.Get(kinds.ClusterRoleBindings, "", "system:kube-dns") == nil {
		t.Error("the binding was not made again")
	}
}

func TestABindingTakesEffectAndTheVerdictNamesIt(t *testing.T) {
	c := apitest.New(t)
	refused := `pods is forbidden: User "eve" cannot list resource "pods" in API group "" in the namespace "default"`
	if got := message(as(c, person("eve"), listPods)); got != refused {
		t.Errorf("before: %s", got)
	}
	c.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "default"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "reader"},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: "eve"}}})
	c.Run(time.Second)
	if got, want := message(as(c, person("eve"), listPods)), refused+`: rbac: RBAC: clusterrole.rbac.authorization.k8s.io "reader" not found`; got != want {
		t.Errorf("without the role: %s", got)
	}
	c.Create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}}}})
	c.Run(time.Second)
	if got := message(as(c, person("eve"), listPods)); got != "" {
		t.Errorf("after: %s", got)
	}
	review := as(c, person("eve"), kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.SelfSubjectAccessReviews, Object: &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: "list", Resource: "pods"}}}})
	if review.Err != nil {
		t.Fatal(review.Err)
	}
	if got, want := review.Object.(*authorizationv1.SelfSubjectAccessReview).Status, (authorizationv1.SubjectAccessReviewStatus{Allowed: true,
		Reason: `RBAC: allowed by RoleBinding "b/default" of ClusterRole "reader" to User "eve"`}); got != want {
		t.Errorf("review: %+v", got)
	}
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Remove(p, client, kinds.RoleBindings, "default", "b", nil); err != nil {
			t.Error(err)
		}
	})
	c.Run(time.Second)
	if got := message(as(c, person("eve"), listPods)); got != refused {
		t.Errorf("after the binding went: %s", got)
	}
}

func TestNobodyReadsWhatIsOpenToAll(t *testing.T) {
	c := apitest.New(t)
	for path, want := range map[string]string{"/healthz": "", "/livez": "", "/version": "", "/api": `forbidden: User "system:anonymous" cannot get path "/api"`,
		"/metrics": `forbidden: User "system:anonymous" cannot get path "/metrics"`} {
		if got := message(as(c, &kubeapi.Credential{}, kubeapi.Request{Verb: kubeapi.Get, Path: path})); got != want {
			t.Errorf("nobody, %s: %q, want %q", path, got, want)
		}
	}
	if got := message(as(c, person("eve"), kubeapi.Request{Verb: kubeapi.Get, Path: "/apis/apps/v1"})); got != "" {
		t.Errorf("discovery for whoever is known: %s", got)
	}
}

func TestImpersonation(t *testing.T) {
	c := apitest.New(t)
	admin := kubeapi.User{Name: "root", Groups: []string{"system:masters"}}
	whoami := kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.SelfSubjectReviews, Object: &authenticationv1.SelfSubjectReview{}}
	for _, tc := range []struct {
		what   string
		wanted kubeapi.User
		groups []string
	}{
		{"a user", kubeapi.User{Name: "eve"}, []string{"system:authenticated"}},
		{"a user with groups", kubeapi.User{Name: "eve", Groups: []string{"dev"}}, []string{"dev", "system:authenticated"}},
		{"a service account", kubeapi.User{Name: "system:serviceaccount:default:web"}, []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}},
		{"a node", kubeapi.User{Name: "system:node:worker-1"}, []string{"system:nodes", "system:authenticated"}},
	} {
		r := whoami
		resp := as(c, &kubeapi.Credential{Certified: admin, Impersonate: tc.wanted}, r)
		if resp.Err != nil {
			t.Errorf("%s: %v", tc.what, resp.Err)
			continue
		}
		info := resp.Object.(*authenticationv1.SelfSubjectReview).Status.UserInfo
		if info.Username != tc.wanted.Name || !reflect.DeepEqual(info.Groups, tc.groups) {
			t.Errorf("%s: %s %q, want %q", tc.what, info.Username, info.Groups, tc.groups)
		}
	}
	for _, tc := range []struct {
		what, want string
		wanted     kubeapi.User
	}{
		{"without the right", `pods is forbidden: User "eve" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"`, kubeapi.User{Name: "bob"}},
		{"groups of nobody", `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"dev"}, Extra:map[string][]string(nil)} without impersonating a user name`, kubeapi.User{Groups: []string{"dev"}}},
	} {
		cred := person("eve")
		cred.Impersonate = tc.wanted
		if got := message(as(c, cred, listPods)); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.what, got, tc.want)
		}
	}
}

func TestATokenHoldsAsLongAsWhatItIsBoundTo(t *testing.T) {
	c := apitest.New(t)
	account := c.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
	pod := c.Create(apitest.Pod("p", func(p *corev1.Pod) { p.Spec.ServiceAccountName = "web" }))
	get := func(tr *authenticationv1.TokenRequest) *authenticationv1.TokenRequest {
		resp := as(c, person("root", "system:masters"), kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.ServiceAccounts, Namespace: "default", Name: "web", Subresource: "token", Object: tr})
		if resp.Err != nil {
			t.Fatal(resp.Err)
		}
		return resp.Object.(*authenticationv1.TokenRequest)
	}
	free := get(&authenticationv1.TokenRequest{})
	bound := get(&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: "p"}}})
	other := get(&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}}})
	if left := free.Status.ExpirationTimestamp.Sub(c.Loop.Now()); left < 59*time.Minute || left > time.Hour {
		t.Errorf("a token lives for %s", left)
	}
	try := func(what, token, want string) {
		t.Helper()
		if got := message(as(c, &kubeapi.Credential{Token: token}, listPods)); got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	known := `pods is forbidden: User "system:serviceaccount:default:web" cannot list resource "pods" in API group "" in the namespace "default"`
	try("the account's", free.Status.Token, known)
	try("the pod's", bound.Status.Token, known)
	try("for others", other.Status.Token, "Unauthorized")
	try("none at all", "wrong", "Unauthorized")
	review := as(c, person("root", "system:masters"), kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.TokenReviews, Object: &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: bound.Status.Token}}}).Object.(*authenticationv1.TokenReview)
	if u := review.Status.User; !review.Status.Authenticated || u.UID != string(account.GetUID()) || u.Extra["authentication.kubernetes.io/pod-uid"][0] != string(pod.GetUID()) {
		t.Errorf("review: %+v", review.Status)
	}
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		zero := int64(0)
		if err := kubeapi.Remove(p, client, kinds.Pods, "default", "p", &metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
			t.Error(err)
		}
	})
	c.Run(time.Second)
	try("of a pod that is gone", bound.Status.Token, "Unauthorized")
	try("of the account still", free.Status.Token, known)
	c.Run(time.Hour + 2*time.Minute)
	try("after its life", free.Status.Token, "Unauthorized")
	fresh := get(&authenticationv1.TokenRequest{})
	try("a fresh one", fresh.Status.Token, known)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if err := kubeapi.Remove(p, client, kinds.ServiceAccounts, "default", "web", nil); err != nil {
			t.Error(err)
		}
	})
	c.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}})
	c.Run(time.Second)
	try("of an account of the same name", fresh.Status.Token, "Unauthorized")
}

func TestNobodyGivesAwayRightsThatHeHasNot(t *testing.T) {
	c := apitest.New(t)
	c.Create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "roles"}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "eve"}}})
	c.Create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "roles"}, Rules: []rbacv1.PolicyRule{{Verbs: []string{"create"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings"}},
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}})
	c.Run(time.Second)
	role := func(verbs ...string) kubeapi.Request {
		return kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.Roles, Namespace: "default", Object: &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "r" + verbs[0]},
			Rules: []rbacv1.PolicyRule{{Verbs: verbs, APIGroups: []string{""}, Resources: []string{"pods"}}}}}
	}
	bind := func(to string) kubeapi.Request {
		return kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.RoleBindings, Namespace: "default", Object: &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "to-" + to},
			RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: to}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "eve"}}}}
	}
	for _, tc := range []struct {
		what string
		r    kubeapi.Request
		want string
	}{
		{"what is held", role("get"), ""},
		{"more", role("list", "watch", "get"), `roles.rbac.authorization.k8s.io "rlist" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:` +
			"\n" + `{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}`},
		{"by a binding", bind("cluster-admin"), `rolebindings.rbac.authorization.k8s.io "to-cluster-admin" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:` +
			"\n" + `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}` + "\n" + `{NonResourceURLs:["*"], Verbs:["*"]}`},
		{"by a role that is not", bind("nope"), `clusterroles.rbac.authorization.k8s.io "nope" not found`},
	} {
		if got := message(as(c, person("eve"), tc.r)); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.what, got, tc.want)
		}
	}
}
