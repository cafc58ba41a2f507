package httpapi

import (
	"context"
	"errors"

	"example.com/kubeviz/components/apiserver/streams"
	"example.com/kubeviz/components/kubeapi"
)

// stream answers a request that leads into a container: a log, a command, a port.
func (c *call) stream(r *kubeapi.Request) {
	again := false
	ask := func(ctx context.Context, q kubeapi.ContainerQuery) (kubeapi.Container, error) {
		own := *r
		q.Again = again
		own.Container = &q
		ctx, cancel := context.WithTimeout(ctx, c.h.cfg.Timeout)
		defer cancel()
		resp, err := c.up.Do(ctx, &own)
		first := !again
		again = true
		switch {
		case err == nil:
			if first {
				for _, w := range resp.Warnings {
					c.warn(w)
				}
			}
			return resp.Container, resp.Err
		case first:
			return nil, c.unanswered(ctx, err)
		case errors.Is(err, ErrPaused), errors.Is(err, ErrUnderWay):
			return nil, nil // it goes on when time does
		}
		return nil, err
	}
	if err := (streams.Session{Ask: ask, Now: c.h.cfg.Now, Pod: r.Name}).Serve(c.w, c.r, r.Subresource, c.shift.Distance()); err != nil {
		c.fail(err)
	}
}
