package apiserver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/apiserver/authn"
	"example.com/kubeviz/components/apiserver/authz"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/raftstore/mvcc"
)

// identity is who a request turned out to be from.
type identity struct {
	user kubeapi.User
	// by is who asked, where the request is made in the name of user; empty Name: user itself.
	by kubeapi.User
	// err is the answer to who is not let in.
	err error
}

// identify finds out who asks. Programs of the cluster name themselves; what stands outside shows a certificate or a token, certificates first, and is nobody when it shows neither.
// Who shows something bad is refused rather than taken for nobody (API-2).
func (s *Server) identify(p *sim.Proc, rq *request) identity {
	cred := rq.Credential
	if cred == nil {
		if rq.User.Name == "" {
			return identity{user: nobody()}
		}
		return identity{user: rq.User}
	}
	id := identity{user: nobody()}
	switch {
	case cred.Certified.Name != "":
		id.user = cred.Certified
		id.user.Groups = withGroup(id.user.Groups, authz.Authenticated)
	case cred.Token != "":
		u, _, err := s.tokenUser(p, cred.Token, nil, rq.deadline)
		if err != nil {
			return identity{err: apierrors.NewUnauthorized("Unauthorized")}
		}
		id.user = u
	case cred.Foreign:
		return identity{err: apierrors.NewUnauthorized("Unauthorized")}
	}
	wanted := cred.Impersonate
	if wanted.Name == "" && (wanted.UID != "" || len(wanted.Groups) > 0 || len(wanted.Extra) > 0) {
		id.err = apierrors.NewBadRequest(fmt.Sprintf("requested &user.DefaultInfo{Name:%#v, UID:%#v, Groups:%#v, Extra:%#v} without impersonating a user name",
			wanted.Name, wanted.UID, wanted.Groups, wanted.Extra))
		return id
	}
	if wanted.Name != "" {
		u, err := s.impersonate(rq, id.user, wanted)
		if err != nil {
			id.err = err
			return id
		}
		id.by, id.user = id.user, u
	}
	return id
}

func nobody() kubeapi.User {
	return kubeapi.User{Name: authz.Anonymous, Groups: []string{authz.Unauthenticated}}
}

// withGroup adds a group unless it is there. It does not write to the slice it gets.
func withGroup(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(slices.Clip(groups), group)
}

// Extra of a user that is a service account (as pkg/authentication/serviceaccount).
const (
	extraPodName      = "authentication.kubernetes.io/pod-name"
	extraPodUID       = "authentication.kubernetes.io/pod-uid"
	extraNodeName     = "authentication.kubernetes.io/node-name"
	extraNodeUID      = "authentication.kubernetes.io/node-uid"
	extraCredentialID = "authentication.kubernetes.io/credential-id"
)

// tokenUser tells whose a token is and for which of the wanted audiences it holds (nil: for this server). It holds as long as the service account and the object that it is bound
// to exist, and are the same ones.
func (s *Server) tokenUser(p *sim.Proc, token string, wanted []string, deadline time.Time) (u kubeapi.User, audiences []string, err error) {
	c, err := s.cfg.Tokens.Read(token)
	if err != nil {
		return u, nil, err
	}
	if audiences = c.For(wanted); len(audiences) == 0 {
		if len(wanted) == 0 {
			wanted = []string{authn.Audience}
		}
		return u, nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", c.Audience, wanted)
	}
	now := s.cfg.WallNow()
	if err := c.Valid(now); err != nil {
		return u, nil, err
	}
	k := &c.Kubernetes
	account, err := s.lookup(p, kinds.ServiceAccounts, k.Namespace, k.ServiceAccount.Name, deadline)
	switch {
	case err != nil:
		return u, nil, err
	case string(account.GetUID()) != k.ServiceAccount.UID:
		return u, nil, fmt.Errorf("service account UID (%s) does not match claim (%s)", account.GetUID(), k.ServiceAccount.UID)
	case s.longGone(account):
		return u, nil, fmt.Errorf("service account %s/%s has been deleted", k.Namespace, k.ServiceAccount.Name)
	}
	u = kubeapi.ServiceAccount(k.Namespace, k.ServiceAccount.Name)
	u.UID = k.ServiceAccount.UID
	u.Extra = map[string][]string{}
	if c.ID != "" {
		u.Extra[extraCredentialID] = []string{"JTI=" + c.ID}
	}
	for _, b := range []struct {
		ref       *authn.Ref
		kind      *kinds.Kind
		namespace string
		what      string
	}{{k.Secret, kinds.Secrets, k.Namespace, "secret"}, {k.Pod, kinds.Pods, k.Namespace, "pod"}, {nodeAlone(k), kinds.Nodes, "", "node"}} {
		if b.ref == nil {
			continue
		}
		obj, err := s.lookup(p, b.kind, b.namespace, b.ref.Name, deadline)
		switch {
		case err != nil, s.longGone(obj):
			return kubeapi.User{}, nil, errors.New("service account token has been invalidated")
		case string(obj.GetUID()) != b.ref.UID:
			return kubeapi.User{}, nil, fmt.Errorf("%s UID (%s) does not match service account %s ref claim (%s)", b.what, obj.GetUID(), b.what, b.ref.UID)
		}
	}
	if k.Pod != nil {
		u.Extra[extraPodName], u.Extra[extraPodUID] = []string{k.Pod.Name}, []string{k.Pod.UID}
	}
	if k.Node != nil {
		u.Extra[extraNodeName] = []string{k.Node.Name}
		if k.Node.UID != "" {
			u.Extra[extraNodeUID] = []string{k.Node.UID}
		}
	}
	return u, audiences, nil
}

// nodeAlone is the node that a token is bound to by itself; of a token that is bound to a pod it merely tells where the pod is.
func nodeAlone(k *authn.Kubernetes) *authn.Ref {
	if k.Pod != nil {
		return nil
	}
	return k.Node
}

// deletionLeeway is how long tokens hold on to what is being deleted.
const deletionLeeway = time.Minute

func (s *Server) longGone(obj kinds.Object) bool {
	at := obj.GetDeletionTimestamp()
	return at != nil && at.Time.Before(s.proc.Loop.Now().Add(-deletionLeeway))
}

// lookup finds an object in the cache, or in the store where the cache has not seen it yet. Without a process to wait in (nil) the cache is all there is.
func (s *Server) lookup(p *sim.Proc, k *kinds.Kind, namespace, name string, deadline time.Time) (kinds.Object, error) {
	if name == "" || k.Namespaced && namespace == "" {
		return nil, notFound(k, name)
	}
	if obj := s.cache.held(k, namespace, name); obj != nil {
		return obj, nil
	}
	if p == nil {
		return nil, notFound(k, name)
	}
	res, err := s.door.read(p, mvcc.Range{Key: k.Key(namespace, name)}, deadline)
	if err != nil {
		return nil, err
	}
	if len(res.KVs) == 0 {
		return nil, notFound(k, name)
	}
	obj, err := s.codec.Decode(&res.KVs[0])
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj, nil
}
