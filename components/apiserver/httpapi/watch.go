package httpapi

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/kubeviz/components/kubeapi"
)

// watchLife is the least a watch lives when its client names no time, on the wall; up to as much again is added.
const watchLife = 30 * time.Minute

// simulatedLife is longer than any watch lives, at any rate.
const simulatedLife = 1000 * time.Hour

// writeTimeout is Config.WriteTimeout where it is not set.
const writeTimeout = 30 * time.Second

// afterDrop is how much later a write that hangs is cut off: by then it is told why. A write that fails ends the connection first, which looks as if the client had done so.
const afterDrop = 100 * time.Millisecond

// watch streams changes.
func (c *call) watch(r *kubeapi.Request, s Served) {
	life := watchLife + rand.N(watchLife)
	if t := c.query.Get("timeoutSeconds"); t != "" {
		n, err := strconv.ParseInt(t, 10, 32)
		if err != nil {
			c.fail(apierrors.NewBadRequest(err.Error()))
			return
		}
		if n > 0 {
			life = time.Duration(n) * time.Second
		}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), life)
	defer cancel()
	r.WatchFor = simulatedLife // its life is measured here, by the client's clock
	ev, err := c.up.Watch(ctx, r)
	if err != nil {
		c.fail(c.unanswered(ctx, err))
		return
	}
	defer ev.Close()
	contentType := c.out.media
	if contentType == typeProto {
		contentType += ";stream=watch"
	}
	c.w.Header().Set("Content-Type", contentType)
	c.w.Header().Set("Transfer-Encoding", "chunked")
	c.w.WriteHeader(http.StatusOK)
	to := http.NewResponseController(c.w)
	_ = to.Flush() // what cannot be flushed fails at the first write
	slow := time.AfterFunc(c.h.cfg.WriteTimeout, ev.Drop)
	defer slow.Stop()
	slow.Stop()
	columns := true
	for {
		events, err := ev.Next(ctx)
		if err != nil {
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				c.h.cfg.HangUp(c.r)
				panic(http.ErrAbortHandler)
			}
			return
		}
		slow.Reset(c.h.cfg.WriteTimeout)
		_ = to.SetWriteDeadline(time.Now().Add(c.h.cfg.WriteTimeout + afterDrop))
		for i := range events {
			e := &events[i]
			data, err := watchFrame(e.Type, c.event(s, e, columns), c.out.media)
			if err != nil {
				return
			}
			if e.Type != kubeapi.WatchError {
				columns = false
			}
			if _, err := c.w.Write(data); err != nil || e.Type == kubeapi.WatchError {
				return
			}
		}
		if to.Flush() != nil {
			return
		}
		slow.Stop()
		_ = to.SetWriteDeadline(time.Time{})
	}
}

// event is what one frame holds.
func (c *call) event(s Served, e *kubeapi.WatchEvent, columns bool) runtime.Object {
	obj := e.Object
	switch e.Type {
	case kubeapi.WatchError:
		var api apierrors.APIStatus
		st := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError}
		if errors.As(e.Err, &api) {
			st = api.Status()
		} else if e.Err != nil {
			st.Message = e.Err.Error()
		}
		st.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		return &st
	case kubeapi.Bookmark:
		if obj == nil {
			obj = s.Kind.New()
			obj.SetResourceVersion(e.ResourceVersion)
		}
	}
	switch c.out.as {
	case "Table":
		return c.table(s, obj, columns)
	case "PartialObjectMetadata":
		return c.partial(obj)
	}
	return c.seen(s, obj)
}
