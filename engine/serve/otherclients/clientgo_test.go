package otherclients

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	clientfeatures "k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	watchtools "k8s.io/client-go/tools/watch"
)

const namespace = "default"

// tried makes a write again until it is answered, as a client does whose server was killed: what was not answered may have happened all the same.
func tried(ctx context.Context, write func() error) error {
	var err error
	for range 300 {
		if err = write(); err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
	return err
}

// seen is what an informer said of objects, by name.
type seen struct {
	mu                 sync.Mutex
	added, deleted     map[string]int
	newest             map[string]string
	resynced, backward int
}

func (s *seen) handler() cache.ResourceEventHandler {
	number := func(obj any) int { n, _ := strconv.Atoi(obj.(*corev1.ConfigMap).Data["n"]); return n }
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			m := obj.(*corev1.ConfigMap)
			s.added[m.Name]++
			s.newest[m.Name] = m.Data["n"]
		},
		UpdateFunc: func(old, obj any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			m := obj.(*corev1.ConfigMap)
			if old.(*corev1.ConfigMap).ResourceVersion == m.ResourceVersion {
				s.resynced++
			}
			if number(obj) < number(old) {
				s.backward++
			}
			s.newest[m.Name] = m.Data["n"]
		},
		DeleteFunc: func(obj any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
			s.deleted[strings.TrimPrefix(key, namespace+"/")]++
		},
	}
}

// Informers are fed with a list and a watch, or with a watch that begins with what is there. Either way they see all that is written while the leading master dies, and a
// watcher that asks for each single change gets each once and in order.
func TestInformersMissNothingWhenTheLeadingMasterDies(t *testing.T) {
	for name, watchList := range map[string]bool{"list and watch": false, "watch-list": true} {
		t.Run(name, func(t *testing.T) {
			featurestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, watchList)
			c := open(t)
			ctx, leave := context.WithCancel(t.Context())
			var initial, lists atomic.Int64
			cfg := rest.CopyConfig(c.cfg)
			cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) {
					if q := r.URL.Query(); q.Get("sendInitialEvents") == "true" {
						initial.Add(1)
					} else if r.Method == http.MethodGet && q.Get("watch") == "" {
						lists.Add(1)
					}
					return next.RoundTrip(r)
				})
			})
			client, err := kubernetes.NewForConfig(cfg)
			must(t, err)
			maps := c.kube.CoreV1().ConfigMaps(namespace)
			const labelled = "of=informers"
			made := func(name string, n int) *corev1.ConfigMap {
				return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": "informers"}}, Data: map[string]string{"n": strconv.Itoa(n)}}
			}
			_, err = maps.Create(ctx, made("before", 1), metav1.CreateOptions{})
			must(t, err)

			factory := informers.NewSharedInformerFactoryWithOptions(client, time.Second, informers.WithNamespace(namespace),
				informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = labelled }))
			s := &seen{added: map[string]int{}, deleted: map[string]int{}, newest: map[string]string{}}
			informer := factory.Core().V1().ConfigMaps()
			_, err = informer.Informer().AddEventHandler(s.handler())
			must(t, err)
			factory.Start(ctx.Done())
			defer factory.Shutdown()
			defer leave() // before Shutdown, which waits for the informers
			running, stop := context.WithTimeout(ctx, patience)
			defer stop()
			for kind, ok := range factory.WaitForCacheSync(running.Done()) {
				if !ok {
					t.Fatalf("%s: never synced", kind)
				}
			}
			if watchList != (initial.Load() > 0) || watchList != (lists.Load() == 0) {
				t.Errorf("%d watches began with what is there, %d lists", initial.Load(), lists.Load())
			}

			began, err := maps.List(ctx, metav1.ListOptions{LabelSelector: labelled})
			must(t, err)
			watching, err := watchtools.NewRetryWatcherWithContext(ctx, began.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.LabelSelector = labelled
				return client.CoreV1().ConfigMaps(namespace).Watch(ctx, o)
			}})
			must(t, err)
			var told []string // of the watcher, in order
			toldAll := make(chan struct{})
			go func() {
				defer close(toldAll)
				for ev := range watching.ResultChan() {
					m, ok := ev.Object.(*corev1.ConfigMap)
					if !ok {
						told = append(told, fmt.Sprintf("%s %v", ev.Type, ev.Object))
						return
					}
					told = append(told, fmt.Sprint(ev.Type, " ", m.Name, " ", m.Data["n"]))
					if m.Name == "last" {
						return
					}
				}
			}()

			const many, versions = 30, 3
			var want []string
			for i := range many {
				name := fmt.Sprintf("m-%02d", i)
				if i == many/3 {
					c.crash(c.leader())
				}
				must(t, tried(ctx, func() error { _, err := maps.Create(ctx, made(name, 1), metav1.CreateOptions{}); return err }))
				want = append(want, "ADDED "+name+" 1")
				for n := 2; n <= versions; n++ { // an update that is made twice writes nothing the second time
					must(t, tried(ctx, func() error { _, err := maps.Update(ctx, made(name, n), metav1.UpdateOptions{}); return err }))
					want = append(want, fmt.Sprint("MODIFIED ", name, " ", n))
				}
				if i%3 == 0 {
					must(t, tried(ctx, func() error { return maps.Delete(ctx, name, metav1.DeleteOptions{}) }))
					want = append(want, fmt.Sprint("DELETED ", name, " ", versions))
				}
			}
			must(t, tried(ctx, func() error { _, err := maps.Create(ctx, made("last", 1), metav1.CreateOptions{}); return err }))
			want = append(want, "ADDED last 1")

			select {
			case <-toldAll:
			case <-running.Done():
				watching.Stop()
				t.Error("the watcher was not told of the last object")
				<-toldAll
			}
			if got, want := strings.Join(told, "\n"), strings.Join(want, "\n"); got != want {
				t.Errorf("the watcher was told\n%s\nwanted\n%s", got, want)
			}
			c.until("the informer knows what is stored", func() error {
				s.mu.Lock()
				defer s.mu.Unlock()
				for i := range many {
					name := fmt.Sprintf("m-%02d", i)
					if s.added[name] != 1 || s.newest[name] != strconv.Itoa(versions) || s.deleted[name] != map[bool]int{true: 1}[i%3 == 0] {
						return fmt.Errorf("%s: added %d times, deleted %d times, last seen with %q", name, s.added[name], s.deleted[name], s.newest[name])
					}
				}
				if s.added["last"] != 1 || s.backward != 0 {
					return fmt.Errorf("the last: %d, steps back: %d", s.added["last"], s.backward)
				}
				if s.resynced == 0 {
					return fmt.Errorf("no resync")
				}
				return nil
			})
			if all, err := informer.Lister().ConfigMaps(namespace).List(labels.Everything()); err != nil || len(all) != many-many/3+2 {
				t.Errorf("the cache holds %d, %v", len(all), err)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Of two candidates one leads; when it stops, the other takes over. Meanwhile the leading master dies, which neither notices but as a slow answer.
func TestLeadershipPassesToTheOtherCandidate(t *testing.T) {
	c := open(t)
	leads := make(chan string, 4)
	stopped := make(chan string, 4)
	stop := map[string]context.CancelFunc{}
	var running sync.WaitGroup
	defer running.Wait()
	for _, id := range []string{"one", "two"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stop[id] = cancel
		lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "candidates", Namespace: namespace}, Client: c.kube.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: id}}
		running.Go(func() {
			leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: 20 * time.Second, RenewDeadline: 15 * time.Second, RetryPeriod: 200 * time.Millisecond, ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leads <- id }, OnStoppedLeading: func() { stopped <- id }},
			})
		})
	}
	next := func(ch chan string) string {
		t.Helper()
		select {
		case id := <-ch:
			return id
		case <-time.After(patience):
			t.Fatal("nothing happened")
			return ""
		}
	}
	first := next(leads)
	renewed := func() (time.Time, string) {
		var at time.Time
		var holder string
		c.until("the lease is read", func() error {
			l, err := c.kube.CoordinationV1().Leases(namespace).Get(t.Context(), "candidates", metav1.GetOptions{})
			if err == nil {
				at, holder = l.Spec.RenewTime.Time, *l.Spec.HolderIdentity
			}
			return err
		})
		return at, holder
	}
	c.crash(c.leader())
	before, _ := renewed()
	c.until("the lease is renewed after the crash", func() error {
		if at, holder := renewed(); !at.After(before) || holder != first {
			return fmt.Errorf("%s holds it since %s", holder, at)
		}
		return nil
	})
	stop[first]()
	if gone := next(stopped); gone != first {
		t.Errorf("%s stopped leading, not %s", gone, first)
	}
	second := next(leads)
	if second == first {
		t.Errorf("%s leads again", second)
	}
	l, err := c.kube.CoordinationV1().Leases(namespace).Get(t.Context(), "candidates", metav1.GetOptions{})
	must(t, err)
	if *l.Spec.HolderIdentity != second || *l.Spec.LeaseTransitions != 1 { // a lease that is given up counts no transition
		t.Errorf("held by %s after %d transitions", *l.Spec.HolderIdentity, *l.Spec.LeaseTransitions)
	}
	stop[second]()
	next(stopped)
}

// The dynamic client knows no types: what it writes and reads back are maps.
func TestTheDynamicClientWritesWhatItReads(t *testing.T) {
	c := open(t)
	ctx := t.Context()
	client, err := dynamic.NewForConfig(c.cfg)
	must(t, err)
	deployments := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(namespace)
	web := func(replicas int64, image string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{
			"replicas": replicas, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": image}}}}}}}
	}
	replicas := func(u *unstructured.Unstructured) int64 {
		n, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
		return n
	}
	made, err := deployments.Create(ctx, web(1, "nginx:1"), metav1.CreateOptions{FieldManager: "maker", FieldValidation: metav1.FieldValidationStrict})
	must(t, err)
	if replicas(made) != 1 || made.GetUID() == "" || made.GetGeneration() != 1 {
		t.Errorf("made %v", made.Object)
	}
	stale := made.DeepCopy()

	c.until("an update with the newest version", func() error { // controllers write too
		got, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		must(t, unstructured.SetNestedField(got.Object, int64(2), "spec", "replicas"))
		_, err = deployments.Update(ctx, got, metav1.UpdateOptions{FieldManager: "maker"})
		return err
	})
	if _, err := deployments.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of a stale version: %v", err)
	}

	for _, p := range []struct {
		how   types.PatchType
		patch string
		want  int64
	}{
		{types.MergePatchType, `{"spec":{"replicas":3}}`, 3},
		{types.JSONPatchType, `[{"op":"replace","path":"/spec/replicas","value":4}]`, 4},
		{types.StrategicMergePatchType, `{"spec":{"replicas":5,"template":{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}}}`, 5},
	} {
		got, err := deployments.Patch(ctx, "web", p.how, []byte(p.patch), metav1.PatchOptions{FieldManager: "maker"})
		must(t, err)
		if replicas(got) != p.want {
			t.Errorf("%s: %d replicas", p.how, replicas(got))
		}
	}

	if _, err := deployments.Apply(ctx, "web", web(6, "nginx:3"), metav1.ApplyOptions{FieldManager: "applier"}); !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		t.Errorf("an apply of what another manages: %v", err)
	}
	got, err := deployments.Apply(ctx, "web", web(6, "nginx:3"), metav1.ApplyOptions{FieldManager: "applier", Force: true})
	must(t, err)
	var applied []string
	for _, m := range got.GetManagedFields() {
		if m.Operation == metav1.ManagedFieldsOperationApply {
			applied = append(applied, m.Manager)
		}
	}
	if replicas(got) != 6 || strings.Join(applied, ",") != "applier" {
		t.Errorf("applied: %d replicas, by %v", replicas(got), applied)
	}

	list, err := deployments.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=web"})
	must(t, err)
	if len(list.Items) != 1 || list.GetResourceVersion() == "" || list.Items[0].GetKind() != "Deployment" {
		t.Errorf("a list of %d: %v", len(list.Items), list.Object)
	}
	policy := metav1.DeletePropagationForeground
	must(t, deployments.Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &policy}))
	c.until("it and what it owns are gone", func() error {
		if _, err := deployments.Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("read: %w", err)
		}
		pods, err := c.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
		if err == nil && len(pods.Items) != 0 {
			err = fmt.Errorf("%d pods", len(pods.Items))
		}
		return err
	})
}

// Discovery, old and aggregated, tells a mapper where kinds live.
func TestDiscoveryMapsKindsToResources(t *testing.T) {
	c := open(t)
	plain, err := discovery.NewDiscoveryClientForConfig(c.cfg)
	must(t, err)
	for name, client := range map[string]discovery.DiscoveryInterface{"aggregated": plain, "legacy": plain.WithLegacy()} {
		t.Run(name, func(t *testing.T) {
			groups, lists, err := client.ServerGroupsAndResources()
			must(t, err)
			if len(groups) < 10 || len(lists) < len(groups) {
				t.Errorf("%d groups, %d lists of resources", len(groups), len(lists))
			}
			mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client)), client, nil)
			for short, want := range map[string]string{"deploy": "apps/v1, Resource=deployments", "po": "/v1, Resource=pods", "hpa": "autoscaling/v2, Resource=horizontalpodautoscalers", "cj": "batch/v1, Resource=cronjobs"} {
				got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: short})
				must(t, err)
				if got.String() != want {
					t.Errorf("%s is %s", short, got)
				}
			}
			for kind, scope := range map[schema.GroupKind]meta.RESTScopeName{{Kind: "Node"}: meta.RESTScopeNameRoot, {Group: "batch", Kind: "Job"}: meta.RESTScopeNameNamespace} {
				m, err := mapper.RESTMapping(kind)
				must(t, err)
				if m.Scope.Name() != scope {
					t.Errorf("%s is of scope %s", kind, m.Scope.Name())
				}
			}
			if _, err := mapper.RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Nothing"}); !meta.IsNoMatchError(err) {
				t.Errorf("a kind that is not there: %v", err)
			}
		})
	}
	v, err := plain.ServerVersion()
	must(t, err)
	if v.Major != "1" || !strings.HasPrefix(v.GitVersion, "v1.37.") {
		t.Errorf("version %v", v)
	}
}
