package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// handler is what a probe or a hook does: one of these.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

// watched checks the probes and hooks of a container that keeps running.
func (c *containers) watched(ctr *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	grace := c.spec.TerminationGracePeriodSeconds
	if l := ctr.Lifecycle; l != nil {
		at := at.Child("lifecycle")
		for _, h := range []struct {
			name string
			does *corev1.LifecycleHandler
		}{{"postStart", l.PostStart}, {"preStop", l.PreStop}} {
			if h.does != nil {
				errs = append(errs, handler{exec: h.does.Exec, http: h.does.HTTPGet, tcp: h.does.TCPSocket, sleep: h.does.Sleep}.check(grace, at.Child(h.name))...)
			}
		}
		if l.StopSignal != nil {
			errs = append(errs, stopSignal(*l.StopSignal, c.spec.OS, at.Child("stopSignal"))...)
		}
	}
	for _, p := range []struct {
		name  string
		probe *corev1.Probe
		once  bool // one success must be enough
	}{{"livenessProbe", ctr.LivenessProbe, true}, {"readinessProbe", ctr.ReadinessProbe, false}, {"startupProbe", ctr.StartupProbe, true}} {
		if p.probe == nil {
			continue
		}
		at := at.Child(p.name)
		errs = append(errs, validateProbe(p.probe, grace, at)...)
		if p.once && p.probe.SuccessThreshold != 1 {
			errs = append(errs, field.Invalid(at.Child("successThreshold"), p.probe.SuccessThreshold, "must be 1"))
		}
		if g := p.probe.TerminationGracePeriodSeconds; !p.once && g != nil {
			errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), g, "must not be set for readinessProbes"))
		}
	}
	return errs
}

func validateProbe(p *corev1.Probe, grace *int64, at *field.Path) field.ErrorList {
	errs := handler{exec: p.Exec, http: p.HTTPGet, tcp: p.TCPSocket, grpc: p.GRPC}.check(grace, at)
	for _, n := range []struct {
		name  string
		value int32
	}{{"initialDelaySeconds", p.InitialDelaySeconds}, {"timeoutSeconds", p.TimeoutSeconds}, {"periodSeconds", p.PeriodSeconds}, {"successThreshold", p.SuccessThreshold},
		{"failureThreshold", p.FailureThreshold}} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(n.value), at.Child(n.name))...)
	}
	if g := p.TerminationGracePeriodSeconds; g != nil && *g <= 0 {
		errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), *g, "must be greater than 0"))
	}
	return errs
}

func (h handler) check(grace *int64, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	n := 0
	one := func(set bool, name string, check func(*field.Path) field.ErrorList) {
		if !set {
			return
		}
		if n++; n > 1 {
			errs = append(errs, field.Forbidden(at.Child(name), "may not specify more than 1 handler type"))
			return
		}
		errs = append(errs, check(at.Child(name))...)
	}
	one(h.exec != nil, "exec", func(at *field.Path) field.ErrorList {
		if len(h.exec.Command) == 0 {
			return field.ErrorList{field.Required(at.Child("command"), "")}
		}
		return nil
	})
	one(h.http != nil, "httpGet", func(at *field.Path) field.ErrorList { return validateHTTPGet(h.http, at) })
	one(h.tcp != nil, "tcpSocket", func(at *field.Path) field.ErrorList { return check.PortOrName(h.tcp.Port, at.Child("port")) })
	one(h.grpc != nil, "grpc", func(at *field.Path) field.ErrorList { return check.PortRange(int(h.grpc.Port), at.Child("port")) })
	one(h.sleep != nil, "sleep", func(at *field.Path) field.ErrorList {
		if grace != nil && (h.sleep.Seconds < 0 || h.sleep.Seconds > *grace) {
			return field.ErrorList{field.Invalid(at, h.sleep.Seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))}
		}
		return nil
	})
	if n == 0 {
		errs = append(errs, field.Required(at, "must specify a handler type"))
	}
	return errs
}

func validateHTTPGet(h *corev1.HTTPGetAction, at *field.Path) field.ErrorList {
	errs := check.Needed(h.Path, at.Child("path"))
	errs = append(errs, check.PortOrName(h.Port, at.Child("port"))...)
	errs = append(errs, check.OneOf(at.Child("scheme"), h.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
	for _, header := range h.HTTPHeaders {
		errs = append(errs, check.Texts(at.Child("httpHeaders"), header.Name, validation.IsHTTPHeaderName(header.Name))...)
	}
	return errs
}

// stopSignal checks the signal that ends a container, of those its system has.
func stopSignal(s corev1.Signal, os *corev1.PodOS, at *field.Path) field.ErrorList {
	switch {
	case os == nil:
		return field.ErrorList{field.Forbidden(at, "may not be set for containers with empty `spec.os.name`")}
	case os.Name == corev1.Windows:
		return check.OneOf(at, s, corev1.SIGKILL, corev1.SIGTERM)
	case os.Name == corev1.Linux:
		return check.OneOf(at, s, linuxSignals...)
	}
	return nil
}

// linuxSignals, sorted as errors list them.
var linuxSignals = []corev1.Signal{
	corev1.SIGABRT, corev1.SIGALRM, corev1.SIGBUS, corev1.SIGCHLD, corev1.SIGCLD, corev1.SIGCONT, corev1.SIGFPE, corev1.SIGHUP, corev1.SIGILL, corev1.SIGINT, corev1.SIGIO, corev1.SIGIOT,
	corev1.SIGKILL, corev1.SIGPIPE, corev1.SIGPOLL, corev1.SIGPROF, corev1.SIGPWR, corev1.SIGQUIT, corev1.SIGRTMAX, corev1.SIGRTMAXMINUS1, corev1.SIGRTMAXMINUS10, corev1.SIGRTMAXMINUS11,
	corev1.SIGRTMAXMINUS12, corev1.SIGRTMAXMINUS13, corev1.SIGRTMAXMINUS14, corev1.SIGRTMAXMINUS2, corev1.SIGRTMAXMINUS3, corev1.SIGRTMAXMINUS4, corev1.SIGRTMAXMINUS5, corev1.SIGRTMAXMINUS6,
	corev1.SIGRTMAXMINUS7, corev1.SIGRTMAXMINUS8, corev1.SIGRTMAXMINUS9, corev1.SIGRTMIN, corev1.SIGRTMINPLUS1, corev1.SIGRTMINPLUS10, corev1.SIGRTMINPLUS11, corev1.SIGRTMINPLUS12,
	corev1.SIGRTMINPLUS13, corev1.SIGRTMINPLUS14, corev1.SIGRTMINPLUS15, corev1.SIGRTMINPLUS2, corev1.SIGRTMINPLUS3, corev1.SIGRTMINPLUS4, corev1.SIGRTMINPLUS5, corev1.SIGRTMINPLUS6,
	corev1.SIGRTMINPLUS7, corev1.SIGRTMINPLUS8, corev1.SIGRTMINPLUS9, corev1.SIGSEGV, corev1.SIGSTKFLT, corev1.SIGSTOP, corev1.SIGSYS, corev1.SIGTERM, corev1.SIGTRAP, corev1.SIGTSTP,
	corev1.SIGTTIN, corev1.SIGTTOU, corev1.SIGURG, corev1.SIGUSR1, corev1.SIGUSR2, corev1.SIGVTALRM, corev1.SIGWINCH, corev1.SIGXCPU, corev1.SIGXFSZ,
}
