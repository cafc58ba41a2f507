// Package streams is the HTTP side of what leads into containers: logs, commands, forwarded ports. It turns what a kubelet tells of a container (kubeapi.Container) into what clients read and
// write. It decides nothing about Kubernetes but what options may say.
//
// Imports of ours: components/kubeapi. Goroutines: those of HTTP. Time: simulated instants come from the pictures; waiting for news is on the wall.
package streams

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/kubeapi"
)

// Ask finds a container through the API server. nil without an error: there is nothing to tell (a pod without a node, a cluster whose time stands still).
type Ask func(ctx context.Context, q kubeapi.ContainerQuery) (kubeapi.Container, error)

// LogOptions is what a client wants to read (core/v1 PodLogOptions).
type LogOptions struct {
	Container                    string
	Follow, Previous, Timestamps bool
	SinceSeconds                 *int64
	SinceTime                    *time.Time
	TailLines, LimitBytes        *int64
	Stream                       string // "All", "Stdout" or "Stderr"
}

// ParseLog reads options from the query of a URL; pod names the object in errors.
func ParseLog(query url.Values, pod string) (o LogOptions, err error) {
	o.Container = query.Get("container")
	for name, to := range map[string]*bool{"follow": &o.Follow, "previous": &o.Previous, "timestamps": &o.Timestamps} {
		*to = truth(query, name)
	}
	for _, x := range []struct {
		name string
		to   **int64
	}{{"sinceSeconds", &o.SinceSeconds}, {"tailLines", &o.TailLines}, {"limitBytes", &o.LimitBytes}} {
		if text := query.Get(x.name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return o, apierrors.NewBadRequest(err.Error())
			}
			*x.to = &n
		}
	}
	if text := query.Get("sinceTime"); text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return o, apierrors.NewBadRequest(err.Error())
		}
		o.SinceTime = &t
	}
	if o.Stream = query.Get("stream"); o.Stream == "" {
		o.Stream = "All"
	}
	if errs := o.validate(); len(errs) > 0 {
		return o, apierrors.NewInvalid(schema.GroupKind{Kind: "PodLogOptions"}, pod, errs)
	}
	return o, nil
}

// truth of a parameter as Kubernetes' conversion reads it: there and neither "false" nor "0".
func truth(query url.Values, name string) bool {
	v, ok := query[name]
	return ok && len(v) > 0 && v[0] != "false" && v[0] != "0"
}

// validate is pkg/apis/core/validation: ValidatePodLogOptions.
func (o LogOptions) validate() (errs field.ErrorList) {
	if o.TailLines != nil && *o.TailLines < 0 {
		errs = append(errs, field.Invalid(field.NewPath("tailLines"), *o.TailLines, "must be greater than or equal to 0"))
	}
	if o.LimitBytes != nil && *o.LimitBytes < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), *o.LimitBytes, "must be greater than 0"))
	}
	switch {
	case o.SinceSeconds != nil && o.SinceTime != nil:
		errs = append(errs, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	case o.SinceSeconds != nil && *o.SinceSeconds < 1:
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), *o.SinceSeconds, "must be greater than 0"))
	}
	switch o.Stream {
	case "All":
	case "Stdout", "Stderr":
		if o.TailLines != nil {
			errs = append(errs, field.Forbidden(field.NewPath(""), "`tailLines` and specific `stream` are mutually exclusive for now"))
		}
	default:
		errs = append(errs, field.NotSupported(field.NewPath("stream"), o.Stream, []string{"All", "Stderr", "Stdout"}))
	}
	return errs
}

// fileMax is where the kubelet begins a new file of a log; only the newest is read (containerLogMaxSize).
const fileMax = 10 << 20

// pollEvery is how often a reader who follows looks for news, on the wall.
const pollEvery = 200 * time.Millisecond

// reader writes a log to a client.
type reader struct {
	o     LogOptions
	shift time.Duration // from simulated time to what the client is told
	since time.Time     // simulated
	w     http.ResponseWriter
	left  int64 // bytes that may still be written; negative: any
}

// Log answers a request for a log. shift is what is added to simulated times for this client. An error means that nothing was written yet.
func Log(w http.ResponseWriter, r *http.Request, o LogOptions, shift time.Duration, ask Ask) error {
	c, err := ask(r.Context(), kubeapi.ContainerQuery{Name: o.Container, Previous: o.Previous})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	if c == nil {
		return nil
	}
	from := c.OpenLog()
	defer from.Close()
	rd := &reader{o: o, shift: shift, w: w, left: -1}
	if o.LimitBytes != nil {
		rd.left = *o.LimitBytes
	}
	switch {
	case o.SinceSeconds != nil:
		rd.since = c.Taken().Add(-time.Duration(min(*o.SinceSeconds, 1<<32)) * time.Second)
	case o.SinceTime != nil:
		rd.since = o.SinceTime.Add(-shift)
	}
	if !rd.write(rd.tail(from.Next(c))) || !o.Follow || o.Previous {
		return nil
	}
	rd.follow(r.Context(), c, from, ask)
	return nil
}

// tail is what is read of what was written before: of the newest file, the last lines.
func (rd *reader) tail(lines []kubeapi.LogLine) []kubeapi.LogLine {
	bytes, first := 0, 0
	for i, l := range lines {
		if bytes += len(l.Text); bytes > fileMax {
			bytes, first = len(l.Text), i
		}
	}
	lines = lines[first:]
	if n := rd.o.TailLines; n != nil && *n < int64(len(lines)) {
		lines = lines[int64(len(lines))-*n:]
	}
	return lines
}

// write sends lines and pushes them out; false: that is all.
func (rd *reader) write(lines []kubeapi.LogLine) bool {
	for _, l := range lines {
		if l.At.Before(rd.since) || rd.o.Stream == "Stdout" && l.Stderr || rd.o.Stream == "Stderr" && !l.Stderr {
			continue
		}
		text := l.Text
		if rd.o.Timestamps {
			text = l.At.Add(rd.shift).UTC().Format("2006-01-02T15:04:05.000000000Z07:00") + " " + text
		}
		if rd.left >= 0 && int64(len(text)) > rd.left {
			text = text[:rd.left]
		}
		if _, err := rd.w.Write([]byte(text)); err != nil {
			return false
		}
		if rd.left >= 0 {
			if rd.left -= int64(len(text)); rd.left == 0 {
				return false
			}
		}
	}
	return http.NewResponseController(rd.w).Flush() == nil
}

// follow sends what is added until the container ends, or the client goes.
func (rd *reader) follow(ctx context.Context, c kubeapi.Container, from kubeapi.Log, ask Ask) {
	for !c.Finished() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollEvery):
		}
		now, err := ask(ctx, kubeapi.ContainerQuery{Name: rd.o.Container})
		switch {
		case err != nil: // the client has gone, or the connection to the kubelet broke off
			return
		case now == nil: // time stands still
			continue
		case now.ID() != c.ID(): // another instance runs: read this one to its end
			if now, err = ask(ctx, kubeapi.ContainerQuery{Name: rd.o.Container, Previous: true}); err != nil || now == nil || now.ID() != c.ID() {
				return
			}
		}
		c = now
		if !rd.write(from.Next(c)) {
			return
		}
	}
}
