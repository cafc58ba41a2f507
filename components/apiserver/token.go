package apiserver

import (
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/authn"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

var tokenRequestKind = schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}

// Lives of tokens (k/k pkg/registry/core/serviceaccount/storage/token.go).
const (
	tokenLife    int64 = 3600
	tokenLifeMin int64 = 600
	tokenLifeMax int64 = 1 << 32
	// A pod's own token is asked for with this life. It then holds for a year and merely counts as old after it, for programs that read it only once.
	podTokenLife     int64 = 3607
	podTokenLifeLong int64 = 365 * 24 * 3600
)

// token is POST to serviceaccounts/NAME/token. The answer is the request, with the token in its status; nothing is stored.
func (s *Server) token(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	sent, ok := rq.Object.(*authenticationv1.TokenRequest)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type TokenRequest): %T", rq.Object))
	}
	tr := sent.DeepCopy()
	if tr.Spec.ExpirationSeconds == nil {
		life := tokenLife
		tr.Spec.ExpirationSeconds = &life
	}
	meta := field.NewPath("metadata")
	if tr.Name != "" && tr.Name != rq.Name {
		return nil, apierrors.NewInvalid(tokenRequestKind, rq.Name, field.ErrorList{field.Invalid(meta.Child("name"), tr.Name, "must match the service account name if specified")})
	}
	if tr.Namespace != "" && tr.Namespace != rq.Namespace {
		return nil, apierrors.NewInvalid(tokenRequestKind, rq.Name, field.ErrorList{field.Invalid(meta.Child("namespace"), tr.Namespace, "must match the service account namespace if specified")})
	}
	rq.enter(stageStore)
	account, err := s.current(p, rq)
	if err != nil {
		return nil, err
	}
	gr := schema.GroupResource{Group: authenticationv1.GroupName, Resource: "TokenRequest"}
	if tr.UID != "" && tr.UID != account.GetUID() {
		return nil, apierrors.NewConflict(gr, rq.Name, fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", tr.UID, account.GetUID()))
	}
	if len(tr.Spec.Audiences) == 0 {
		tr.Spec.Audiences = []string{authn.Audience}
	}
	tr.Name, tr.Namespace, tr.UID = account.GetName(), account.GetNamespace(), account.GetUID()
	tr.CreationTimestamp, tr.Status = metav1.NewTime(p.Now().Truncate(secondsOf)), authenticationv1.TokenRequestStatus{}
	rq.enter(stageValidate)
	life := *tr.Spec.ExpirationSeconds
	at := field.NewPath("spec", "expirationSeconds")
	var errs field.ErrorList
	if life < tokenLifeMin {
		errs = append(errs, field.Invalid(at, life, "may not specify a duration less than 10 minutes"))
	}
	if life > tokenLifeMax {
		errs = append(errs, field.Invalid(at, life, "may not specify a duration larger than 2^32 seconds"))
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(tokenRequestKind, "", errs)
	}
	rq.enter(stageAdmit)
	if err := s.admitToken(rq, tr, sent.Spec.Audiences); err != nil {
		return nil, err
	}
	c := authn.Claims{Audience: tr.Spec.Audiences, ID: s.newUID(), Subject: kubeapi.ServiceAccount(tr.Namespace, tr.Name).Name,
		Kubernetes: authn.Kubernetes{Namespace: tr.Namespace, ServiceAccount: authn.Ref{Name: tr.Name, UID: string(tr.UID)}}}
	if err := s.bindToken(p, rq, tr, &c.Kubernetes); err != nil {
		return nil, err
	}
	now := s.cfg.WallNow()
	c.IssuedAt, c.NotBefore, c.Expiry = now.Unix(), now.Unix(), now.Unix()+life
	if c.Kubernetes.Pod != nil && life == podTokenLife && !slices.ContainsFunc(tr.Spec.Audiences, func(a string) bool { return a != authn.Audience }) {
		c.Kubernetes.WarnAfter, c.Expiry = c.Expiry, now.Unix()+podTokenLifeLong
	}
	if tr.Status.Token, err = s.cfg.Tokens.Sign(c); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("failed to generate token: %v", err))
	}
	// In simulated time, as all times of the API; on its way out it becomes the wall time that the token itself carries.
	tr.Status.ExpirationTimestamp = metav1.NewTime(p.Now().Truncate(secondsOf).Add(time.Duration(life) * time.Second))
	return &kubeapi.Response{Object: tr, Created: true}, nil
}

// bindToken binds a token to the object that its request names: it holds no longer than that exists.
func (s *Server) bindToken(p *sim.Proc, rq *request, tr *authenticationv1.TokenRequest, k *authn.Kubernetes) error {
	ref := tr.Spec.BoundObjectRef
	if ref == nil {
		return nil
	}
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	var uid types.UID
	switch {
	case gvk.Group == "" && gvk.Kind == "Pod":
		obj, err := s.lookup(p, kinds.Pods, rq.Namespace, ref.Name, rq.deadline)
		if err != nil {
			return err
		}
		pod := obj.(*corev1.Pod)
		if pod.Spec.ServiceAccountName != rq.Name {
			return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", rq.Name))
		}
		uid = pod.UID
		k.Pod = &authn.Ref{Name: pod.Name, UID: string(uid)}
		if pod.Spec.NodeName != "" {
			k.Node = &authn.Ref{Name: pod.Spec.NodeName}
			if node := s.cache.held(kinds.Nodes, "", pod.Spec.NodeName); node != nil {
				k.Node.UID = string(node.GetUID())
			}
		}
	case gvk.Group == "" && gvk.Kind == "Node":
		node, err := s.lookup(p, kinds.Nodes, "", ref.Name, rq.deadline)
		if err != nil {
			return err
		}
		uid = node.GetUID()
		k.Node = &authn.Ref{Name: node.GetName(), UID: string(uid)}
	case gvk.Group == "" && gvk.Kind == "Secret":
		secret, err := s.lookup(p, kinds.Secrets, rq.Namespace, ref.Name, rq.deadline)
		if err != nil {
			return err
		}
		uid = secret.GetUID()
		k.Secret = &authn.Ref{Name: secret.GetName(), UID: string(uid)}
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", gvk.String()))
	}
	if ref.UID != "" && ref.UID != uid {
		return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name,
			fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	return nil
}
