// Package connect leads from an API server to the kubelet of a pod: for logs, commands, ports and proxied requests. The server has let the user in before it asks here; what is decided here is which container
// is meant, where its kubelet is, and what its silence or refusal sounds like.
//
// Imports of ours: components/kubeapi, engine/kinds, engine/sim, engine/simnet. Goroutines: the loop. Time: simulated.
package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// dialTimeout is how long a kubelet may take to answer; a connection to a machine that is off fails after it (pkg/kubelet/client: the dialer's 30 s).
const dialTimeout = 30 * time.Second

// Config of the ways of one API server.
type Config struct {
	Net *simnet.Net
	// From is the API server.
	From simnet.Addr
	// Kubelet finds the door and the address of a node's kubelet; door is nil while none runs there, known is false for a node that is none.
	Kubelet func(node string) (door kubeapi.Kubelet, ip string, known bool)
}

// Connector answers one subresource.
type Connector = func(p *sim.Proc, r *kubeapi.Request, obj kinds.Object) (*kubeapi.Response, error)

// Pods answers the subresources of pods that lead to a kubelet.
func Pods(cfg Config) map[string]Connector {
	return map[string]Connector{"pods/log": cfg.log, "pods/exec": cfg.exec, "pods/attach": cfg.attach, "pods/portforward": cfg.portForward, "pods/proxy": cfg.proxy}
}

// reply of a kubelet.
type reply struct {
	container kubeapi.Container
	err       error
}

// call asks the kubelet of a pod. The second error means that the kubelet gave no answer.
func (cfg Config) call(p *sim.Proc, node string, ask func(*sim.Proc, kubeapi.Kubelet) (kubeapi.Container, error)) (c kubeapi.Container, refused, silent error) {
	door, ip, known := cfg.Kubelet(node)
	if !known {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, node)
	}
	got, err := simnet.Call(p, cfg.Net, cfg.From, simnet.Addr{Host: node, Process: "kubelet"}, dialTimeout, func(sp *sim.Proc) reply {
		if door == nil {
			return reply{err: simnet.ErrRefused}
		}
		c, err := ask(sp, door)
		return reply{c, err}
	})
	if err != nil {
		return nil, nil, fmt.Errorf("dial tcp %s:10250: %w", ip, err)
	}
	return got.container, got.err, nil
}

func (cfg Config) log(p *sim.Proc, r *kubeapi.Request, obj kinds.Object) (*kubeapi.Response, error) {
	pod, q, err := query(r, obj)
	if err != nil {
		return nil, err
	}
	if pod.Spec.NodeName == "" {
		return &kubeapi.Response{}, nil // an empty log
	}
	c, refused, silent := cfg.call(p, pod.Spec.NodeName, func(sp *sim.Proc, k kubeapi.Kubelet) (kubeapi.Container, error) {
		return k.Logs(sp, pod.Namespace, pod.Name, q)
	})
	var status apierrors.APIStatus
	switch {
	case errors.As(silent, &status):
		return nil, silent
	case silent != nil:
		_, ip, _ := cfg.Kubelet(pod.Spec.NodeName)
		return nil, unknown(fmt.Sprintf("Get %q: %v", "https://"+ip+":10250/containerLogs/"+pod.Namespace+"/"+pod.Name+"/"+q.Name, silent))
	case refused != nil:
		return nil, checked(refused, pod.Name)
	}
	return &kubeapi.Response{Container: c}, nil
}

// checked is what the server makes of a kubelet's refusal (pkg/registry/generic/rest: response_checker.go).
func checked(err error, pod string) error {
	var k *kubeapi.KubeletError
	if !errors.As(err, &k) {
		return apierrors.NewInternalError(err)
	}
	switch k.Code {
	case http.StatusBadRequest:
		return apierrors.NewBadRequest(k.Message)
	case http.StatusInternalServerError:
		return apierrors.NewInternalError(errors.New(k.Message))
	}
	return apierrors.NewGenericServerResponse(k.Code, "", schema.GroupResource{Resource: "pods/log"}, pod, k.Message, 0, false)
}

func unknown(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: message}}
}

func (cfg Config) exec(p *sim.Proc, r *kubeapi.Request, obj kinds.Object) (*kubeapi.Response, error) {
	return cfg.running(p, r, obj)
}

func (cfg Config) attach(p *sim.Proc, r *kubeapi.Request, obj kinds.Object) (*kubeapi.Response, error) {
	return cfg.running(p, r, obj)
}

// portForward leads into the pod's network, whichever of its containers listens there.
func (cfg Config) portForward(p *sim.Proc, r *kubeapi.Request, obj kinds.Object) (*kubeapi.Response, error) {
	pod := obj.(*corev1.Pod)
	if pod.Spec.NodeName == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", pod.Name))
	}
	c, refused, silent := cfg.network(p, pod)
	return carried(c, refused, silent)
}

// network finds what runs in a pod.
func (cfg Config) network(p *sim.Proc, pod *corev1.Pod) (c kubeapi.Container, refused, silent error) {
	return cfg.call(p, pod.Spec.NodeName, func(sp *sim.Proc, k kubeapi.Kubelet) (kubeapi.Container, error) {
		var there network
		var none error
		for i := range pod.Spec.Containers {
			c, err := k.Running(sp, pod.Namespace, pod.Name, kubeapi.ContainerQuery{Name: pod.Spec.Containers[i].Name})
			if err == nil {
				there = append(there, c)
			} else if none == nil {
				none = err
			}
		}
		if len(there) == 0 {
			return nil, none
		}
		return there, nil
	})
}

// network are the containers of a pod as one: they share their ports. What is not a matter of ports is asked of the first.
type network []kubeapi.Container

func (n network) ID() string           { return n[0].ID() }
func (n network) OpenLog() kubeapi.Log { return n[0].OpenLog() }
func (n network) Finished() bool       { return n[0].Finished() }
func (n network) Taken() time.Time     { return n[0].Taken() }
func (n network) Exec(ctx context.Context, c kubeapi.Command) (int, error) {
	return n[0].Exec(ctx, c)
}

func (n network) Attach(ctx context.Context, c kubeapi.Command) bool { return n[0].Attach(ctx, c) }
func (n network) Early() bool                                        { return n[0].Early() }

// Dial connects to whichever container listens.
func (n network) Dial(port int) (conn io.ReadWriteCloser, err error) {
	for _, c := range n {
		if conn, err = c.Dial(port); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// proxy leads to a port of the pod (pkg/registry/core/pod: ResourceLocation). A real API server connects to the pod itself; here its kubelet has to say what listens there, so that a pod
// whose kubelet is gone is not reached.
func (cfg Config) proxy(p *sim.Proc, r *kubeapi.Request, obj kinds.Object) (*kubeapi.Response, error) {
	pod := obj.(*corev1.Pod)
	if pod.Status.PodIP == "" {
		return nil, apierrors.NewBadRequest("address not allowed")
	}
	scheme, port := cmp.Or(r.Container.Scheme, "http"), r.Container.Port
	for i := 0; port == 0 && i < len(pod.Spec.Containers); i++ {
		if ports := pod.Spec.Containers[i].Ports; len(ports) > 0 {
			port = int(ports[0].ContainerPort)
		}
	}
	if port == 0 {
		port = map[string]int{"http": 80, "https": 443}[scheme]
	}
	host := net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(port))
	c, refused, silent := cfg.network(p, pod)
	var status apierrors.APIStatus
	switch {
	case errors.As(silent, &status), refused != nil:
		return nil, unreachable(host, simnet.ErrRefused)
	case silent != nil:
		return nil, unreachable(host, errors.Unwrap(silent))
	}
	return &kubeapi.Response{Container: c, Location: scheme + "://" + host}, nil
}

func unreachable(host string, why error) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("error trying to reach service: dial tcp %s: %v", host, why))
}

func (cfg Config) running(p *sim.Proc, r *kubeapi.Request, obj kinds.Object) (*kubeapi.Response, error) {
	pod, q, err := query(r, obj)
	if err != nil {
		return nil, err
	}
	if pod.Spec.NodeName == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", pod.Name))
	}
	c, refused, silent := cfg.call(p, pod.Spec.NodeName, func(sp *sim.Proc, k kubeapi.Kubelet) (kubeapi.Container, error) {
		return k.Running(sp, pod.Namespace, pod.Name, q)
	})
	return carried(c, refused, silent)
}

func carried(c kubeapi.Container, refused, silent error) (*kubeapi.Response, error) {
	var status apierrors.APIStatus
	switch {
	case errors.As(silent, &status):
		return nil, silent
	case silent != nil:
		return nil, unknown("error dialing backend: " + silent.Error())
	}
	return &kubeapi.Response{Container: c}, refused
}

// query finds out which container is meant (pkg/registry/core/pod: validateContainer).
func query(r *kubeapi.Request, obj kinds.Object) (*corev1.Pod, kubeapi.ContainerQuery, error) {
	pod := obj.(*corev1.Pod)
	q := kubeapi.ContainerQuery{}
	if r.Container != nil {
		q = *r.Container
	}
	var names []string
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	switch {
	case q.Name != "":
		for _, n := range names {
			if n == q.Name {
				return pod, q, nil
			}
		}
		return nil, q, apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", q.Name, pod.Name))
	case len(pod.Spec.Containers) == 1:
		q.Name = pod.Spec.Containers[0].Name
		return pod, q, nil
	}
	return nil, q, apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: [%s]", pod.Name, strings.Join(names, " ")))
}
