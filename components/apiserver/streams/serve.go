package streams

import (
	"net/http"
	"time"
)

// Handles tells the subresources of pods that Serve answers.
func Handles(subresource string) bool {
	switch subresource {
	case "log", "exec", "attach", "portforward":
		return true
	}
	return false
}

// Serve answers a request for a subresource of a pod. shift is what is added to simulated times for this client. An error means that nothing was written yet: it is a Status, or how the way to
// the API server failed.
func (s Session) Serve(w http.ResponseWriter, r *http.Request, subresource string, shift time.Duration) error {
	query := r.URL.Query()
	switch subresource {
	case "log":
		o, err := ParseLog(query, s.Pod)
		if err != nil {
			return err
		}
		return Log(w, r, o, shift, s.Ask)
	case "exec":
		return s.Exec(w, r, query)
	case "attach":
		return s.Attach(w, r, query)
	}
	return s.PortForward(w, r)
}
