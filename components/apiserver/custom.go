package apiserver

import (
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/custom"
	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/apiextensions"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// customs is what a server serves because of CustomResourceDefinitions, as its own cache has them. Loop only.
type customs struct {
	server *Server
	by     map[string]*served // by the definition's name
	set    *custom.Set
	// caches hold the objects of defined kinds by prefix, whether they are served at present or not.
	caches map[string]*kindCache
	todo   sim.Queue[string] // definitions whose status is to be looked at
}

// served is one definition that is established.
type served struct {
	crd *apiextensionsv1.CustomResourceDefinition
	def *custom.Definition
}

func newCustoms(s *Server) *customs {
	c := &customs{server: s, by: map[string]*served{}, caches: map[string]*kindCache{}, set: custom.NewSet(nil)}
	s.cache.kinds[kinds.CustomResourceDefinitions].tell = func(now, before kinds.Object) {
		crd, _ := now.(*apiextensionsv1.CustomResourceDefinition)
		name := ""
		if crd != nil {
			name = crd.Name
		} else {
			name = before.GetName()
		}
		c.changed(name, crd)
	}
	return c
}

// changed takes in a definition as it is now; nil: it is gone.
func (c *customs) changed(name string, crd *apiextensionsv1.CustomResourceDefinition) {
	c.todo.Put(name)
	have := c.by[name]
	stays := crd != nil && apiextensions.Holds(crd, apiextensionsv1.Established)
	if have != nil && stays && have.crd.UID == crd.UID && apiequality.Semantic.DeepEqual(have.crd.Spec, crd.Spec) && apiequality.Semantic.DeepEqual(have.crd.Status.AcceptedNames, crd.Status.AcceptedNames) {
		have.crd = crd
		return
	}
	if have == nil && !stays {
		return
	}
	if have != nil {
		c.drop(have)
		delete(c.by, name)
	}
	if stays {
		if def, err := custom.Define(crd); err == nil { // one that cannot be read was refused when it was made
			c.by[name] = &served{crd, def}
			c.serve(def)
		}
	}
	c.publish()
}

func (c *customs) publish() {
	var all []*kinds.Kind
	for _, s := range c.by {
		all = append(all, s.def.Kinds...)
	}
	c.set = custom.NewSet(all)
	c.server.cfg.Custom.Publish(c.server.proc.Addr.Host, c.set)
}

// drop takes a definition out: its watches end, in good order.
func (c *customs) drop(was *served) {
	s := c.server
	for _, k := range was.def.Kinds {
		delete(s.resources, k)
		delete(s.cache.kinds, k)
	}
	kc := c.caches[was.def.Prefix]
	if kc == nil {
		return
	}
	for i := range s.cache.minutes {
		for _, w := range s.cache.minutes[i].Values() {
			if w.rq.Kind.Prefix == was.def.Prefix {
				w.finish(watchRedefined)
			}
		}
	}
}

func (c *customs) serve(def *custom.Definition) {
	s := c.server
	kc := c.cacheAt(def.Prefix)
	for i, k := range def.Kinds {
		s.resources[k] = def.Resources[i]
		s.cache.kinds[k] = kc
		if k.Version == k.Custom.Storage || i == 0 {
			kc.res = def.Resources[i]
		}
	}
}

// cacheAt is the picture of the objects with a prefix.
func (c *customs) cacheAt(prefix string) *kindCache {
	kc := c.caches[prefix]
	if kc == nil {
		parts := strings.Split(strings.Trim(strings.TrimPrefix(prefix, registryPrefix), "/"), "/")
		kc = newKindCache(&resource.Resource{Kind: kinds.Defined(parts[0], "", "", parts[1], true)})
		kc.clear(c.server.cache.revision)
		c.caches[prefix] = kc
		c.server.cache.order = append(c.server.cache.order, kc)
	}
	return kc
}

// clear forgets all definitions, when the cache begins anew.
func (c *customs) clear() {
	for name, was := range c.by {
		c.drop(was)
		delete(c.by, name)
	}
	c.publish()
}

// current is the row of a defined kind by which the server knows it now; nil: it is not served.
func (c *customs) current(k *kinds.Kind) *kinds.Kind {
	now := c.set.Named(k.GVK().GroupVersion().WithResource(k.Resource))
	if now == nil || now.Kind != k.Kind {
		return nil
	}
	return now
}

// definitionOf is the definition of a kind that is served.
func (c *customs) definitionOf(k *kinds.Kind) *apiextensionsv1.CustomResourceDefinition {
	if s := c.by[k.Resource+"."+k.Group]; s != nil {
		return s.crd
	}
	return nil
}

// adopt makes the object of a defined kind one of the request's version, which knows in which version it is stored.
func (rq *request) adopt(obj kinds.Object) {
	if c, ok := obj.(*kinds.Custom); ok && rq.Kind.Custom != nil {
		c.Is(rq.Kind)
	}
}

// justEstablished is for how long creations wait, lest another server does not know of the kind yet (apiextensions-apiserver's crdHandler).
const justEstablished = 2 * time.Second

// admitCustom holds back creations of a kind that is quite new, and refuses those of one that is going away.
func (s *Server) admitCustom(p *sim.Proc, rq *request) error {
	if rq.Kind.Custom == nil || rq.Verb != kubeapi.Create {
		return nil
	}
	crd := s.customs.definitionOf(rq.Kind)
	if crd == nil {
		return noSuchPath()
	}
	if c := apiextensions.Condition(crd, apiextensionsv1.Established); c != nil && p.Now().Sub(c.LastTransitionTime.Time) < justEstablished {
		p.Sleep(justEstablished)
	}
	if apiextensions.Holds(crd, apiextensionsv1.Terminating) {
		err := apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
		err.ErrStatus.Message = "create not allowed while custom resource definition is terminating"
		return err
	}
	return nil
}

// keepDefinitions accepts names, establishes definitions, and empties those that are deleted, as the controllers in a real API server do. Each server of a cluster tries; who is late has a
// conflict, or nothing to do.
func (s *Server) keepDefinitions(p *sim.Proc) {
	for {
		name, ok := s.customs.todo.Get(p)
		if !ok {
			return
		}
		crd, _ := s.cache.held(kinds.CustomResourceDefinitions, "", name).(*apiextensionsv1.CustomResourceDefinition)
		if crd == nil {
			// Its names are free now: others may have waited for them.
			s.cache.kinds[kinds.CustomResourceDefinitions].items.Scan(func(_ string, o kinds.Object) bool {
				if other := o.(*apiextensionsv1.CustomResourceDefinition); !apiextensions.Holds(other, apiextensionsv1.NamesAccepted) {
					s.customs.todo.Put(other.Name)
				}
				return true
			})
			continue
		}
		next := crd.DeepCopy()
		if crd.DeletionTimestamp != nil {
			if slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
				s.finalizeDefinition(p, next)
			}
			continue
		}
		var all []*apiextensionsv1.CustomResourceDefinition
		s.cache.kinds[kinds.CustomResourceDefinitions].items.Scan(func(_ string, o kinds.Object) bool {
			all = append(all, o.(*apiextensionsv1.CustomResourceDefinition))
			return true
		})
		apiextensions.Settle(next, all, metav1.NewTime(p.Now().Truncate(secondsOf)))
		if !apiequality.Semantic.DeepEqual(next.Status, crd.Status) {
			s.define(p, "status", next)
		}
	}
}

func (s *Server) define(p *sim.Proc, subresource string, crd *apiextensionsv1.CustomResourceDefinition) error {
	return s.Serve(p, &kubeapi.Request{Verb: kubeapi.Update, Kind: kinds.CustomResourceDefinitions, Name: crd.Name, Subresource: subresource, Object: crd, User: loopback, Manager: "kube-apiserver",
		From: s.proc.Addr, Cause: s.proc.Cause}).Err
}

// emptyPoll is how often a definition that is deleted is looked at until its objects are gone.
const emptyPoll = 5 * time.Second

// finalizeDefinition deletes the objects of a definition and lets it go when there are none left.
func (s *Server) finalizeDefinition(p *sim.Proc, crd *apiextensionsv1.CustomResourceDefinition) {
	now := metav1.NewTime(p.Now().Truncate(secondsOf))
	prefix := kinds.Defined(crd.Spec.Group, "", "", crd.Spec.Names.Plural, true).Prefix
	have := s.customs.by[crd.Name]
	left := 0
	if kc := s.customs.caches[prefix]; kc != nil && have != nil && len(have.def.Kinds) > 0 {
		left = kc.items.Len()
		if left > 0 {
			if apiextensions.Set(crd, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress", now) {
				s.define(p, "status", crd) // comes back by the watch
				return
			}
			k := have.def.Kinds[0]
			for _, obj := range kc.items.Values() {
				if obj.GetDeletionTimestamp() == nil {
					s.Serve(p, &kubeapi.Request{Verb: kubeapi.Delete, Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName(), User: loopback, From: s.proc.Addr, Cause: s.proc.Cause})
				}
			}
			name := crd.Name
			s.proc.Loop.After(emptyPoll, func() {
				if !s.proc.Group.Dead() {
					s.customs.todo.Put(name)
				}
			})
			if kc.items.Len() > 0 {
				return
			}
		}
	}
	apiextensions.Set(crd, apiextensionsv1.Terminating, apiextensionsv1.ConditionFalse, "InstanceDeletionCompleted", "removed all instances", now)
	crd.Finalizers = slices.DeleteFunc(crd.Finalizers, func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer })
	s.define(p, "status", crd)
}
