// Package metrics measures what machines and containers use, as metrics-server does: it asks every kubelet every fifteen seconds over the simulated network, keeps the last two answers, and makes
// rates of them. A kubelet that did not answer is not known until it answers again.
//
// It is a part of an API server here, not a program of its own behind an APIService. Rules: metrics-server v0.8 (pkg/scraper, pkg/storage).
//
// Owns: Scraper. Imports of ours: components/kubeapi, engine/sim, engine/simnet. Goroutines: the loop. Time: simulated.
package metrics

import (
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// Resolution is the time from one round to the next (--metric-resolution as its manifest sets it).
const Resolution = 15 * time.Second

const (
	answerTimeout = 10 * time.Second        // --kubelet-request-timeout
	delayPerNode  = 8 * time.Millisecond    // requests of a round are spread over that much for each node,
	delayMax      = 4000 * time.Millisecond // and no more than that
	// freshLeast is how old a container must be that was not there a round ago; its rate is then counted from its start.
	freshLeast = 10 * time.Second
)

// Config of a Scraper.
type Config struct {
	Net *simnet.Net
	// From is who asks.
	From simnet.Addr
	// Nodes lists the nodes that are known now.
	Nodes func() []string
	// Meter finds the door of a node's kubelet; nil while none runs there.
	Meter func(node string) kubeapi.Meter
	Rand  *rand.Rand
}

// Scraper holds the newest measurements.
type Scraper struct {
	cfg        Config
	nodes      map[string]pair
	containers map[key]pair
	pods       map[podKey][]string // the containers of each pod in the last round
}

type (
	podKey struct{ namespace, name string }
	key    struct {
		podKey
		container string
	}
)

// point is a measurement; pair the last two. A pair without the earlier one tells nothing yet.
type point struct {
	at time.Time
	kubeapi.Amount
}

type pair struct {
	last, prev point
	whole      bool
}

// New makes a Scraper; Run lets it work.
func New(cfg Config) *Scraper { return &Scraper{cfg: cfg} }

// Run asks in rounds. p is a process of the server that the Scraper is a part of.
func (s *Scraper) Run(p *sim.Proc) {
	for {
		began := p.Now()
		s.round(p)
		p.Sleep(max(0, began.Add(Resolution).Sub(p.Now())))
	}
}

// round asks all kubelets at about the same time and takes in what came within the time.
func (s *Scraper) round(p *sim.Proc) {
	names := s.cfg.Nodes()
	if len(names) == 0 {
		return // no list of nodes yet
	}
	spread := min(delayPerNode*time.Duration(len(names)), delayMax)
	answers := make(map[string]kubeapi.Usage, len(names))
	var all sim.Cond
	left := len(names)
	for _, name := range names {
		delay := time.Duration(s.cfg.Rand.Int64N(int64(spread)))
		p.Go("scrape "+name, func(p *sim.Proc) {
			p.Sleep(delay)
			u, err := simnet.Call(p, s.cfg.Net, s.cfg.From, simnet.Addr{Host: name, Process: "kubelet"}, answerTimeout, func(sp *sim.Proc) *kubeapi.Usage {
				door := s.cfg.Meter(name)
				if door == nil {
					return nil
				}
				u := door.Usage(sp)
				return &u
			})
			if err == nil && u != nil {
				answers[name] = *u
			}
			if left--; left == 0 {
				all.Broadcast()
			}
		})
	}
	for left > 0 {
		all.Wait(p)
	}
	s.take(names, answers)
}

// take replaces what was known by the answers of a round.
func (s *Scraper) take(names []string, answers map[string]kubeapi.Usage) {
	nodes, containers, pods := make(map[string]pair, len(answers)), map[key]pair{}, map[podKey][]string{}
	for _, name := range names {
		u, ok := answers[name]
		if !ok {
			continue
		}
		nodes[name] = next(s.nodes[name], point{u.At, u.Machine})
		for _, c := range u.Containers {
			k := key{podKey{c.Namespace, c.Pod}, c.Container}
			now := point{u.At, c.Amount}
			pr := next(s.containers[k], now)
			if age := now.at.Sub(c.Since); !pr.whole && age >= freshLeast && age < Resolution {
				pr.prev, pr.whole = point{at: c.Since, Amount: kubeapi.Amount{Since: c.Since}}, true
			}
			containers[k] = pr
			pods[k.podKey] = append(pods[k.podKey], c.Container)
		}
	}
	s.nodes, s.containers, s.pods = nodes, containers, pods
}

// next is a pair moved on by a measurement. One that counts from another start has nothing before it.
func next(have pair, now point) pair {
	return pair{last: now, prev: have.last, whole: have.last.Since.Equal(now.Since) && now.at.After(have.last.at) && !have.last.at.IsZero()}
}

// usage is what a pair tells.
func (pr pair) usage() (corev1.ResourceList, time.Time, time.Duration) {
	window := pr.last.at.Sub(pr.prev.at)
	perSecond := max(0, pr.last.CPUSeconds-pr.prev.CPUSeconds) / window.Seconds()
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewScaledQuantity(int64(perSecond*1e9), resource.Nano),
		corev1.ResourceMemory: *resource.NewQuantity(pr.last.Memory, resource.BinarySI)}, pr.last.at, window
}

// Node is what a machine uses; nil: it is not known (yet, or any more).
func (s *Scraper) Node(node *corev1.Node, now time.Time) *metricsv1beta1.NodeMetrics {
	pr, ok := s.nodes[node.Name]
	if !ok || !pr.whole {
		return nil
	}
	usage, at, window := pr.usage()
	return &metricsv1beta1.NodeMetrics{ObjectMeta: meta(&node.ObjectMeta, now), Timestamp: second(at), Window: metav1.Duration{Duration: window}, Usage: usage}
}

// Pod is what a pod uses, by containers; nil: it is not known of all of them.
func (s *Scraper) Pod(pod *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics {
	at := podKey{pod.Namespace, pod.Name}
	names := s.pods[at]
	if len(names) == 0 {
		return nil
	}
	out := &metricsv1beta1.PodMetrics{ObjectMeta: meta(&pod.ObjectMeta, now)}
	for i, name := range names {
		pr := s.containers[key{at, name}]
		if !pr.whole {
			return nil
		}
		usage, taken, window := pr.usage()
		if i == 0 || taken.Before(out.Timestamp.Time) {
			out.Timestamp, out.Window = second(taken), metav1.Duration{Duration: window}
		}
		out.Containers = append(out.Containers, metricsv1beta1.ContainerMetrics{Name: name, Usage: usage})
	}
	return out
}

func meta(of *metav1.ObjectMeta, now time.Time) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: of.Name, Namespace: of.Namespace, Labels: of.Labels, CreationTimestamp: second(now)}
}

func second(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }
