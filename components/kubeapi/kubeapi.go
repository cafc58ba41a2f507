// Package kubeapi is the contract through which components meet: requests to an API server, the client that carries them over the simulated network, informers,
// and what a component gets from the machine it runs on (Process).
//
// Owns: Request, Response, Client, Dialer, Informer, Process, QueueReporter (what a work queue looks like, as facts). Imports of ours: engine/sim, engine/simnet, engine/event, engine/kinds. Below it stand record (Event
// objects) and leaderelect (Lease based active-standby).
//
// Goroutines: the loop; calls that take a *sim.Proc park it. Time: simulated.
//
// Objects that come from a client's reads, an informer or a watch are shared and immutable: DeepCopy before changing. Objects given to Create and Update belong
// to the API server from then on.
package kubeapi

import (
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// Verb of a request.
type Verb string

const (
	Get    Verb = "get"
	List   Verb = "list"
	Watch  Verb = "watch"
	Create Verb = "create"
	Update Verb = "update"
	Patch  Verb = "patch"
	Delete Verb = "delete"
	// DeleteCollection deletes all objects that the selectors match.
	DeleteCollection Verb = "deletecollection"
)

// User is who asks.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// ServiceAccount is the user as whom a service account authenticates.
func ServiceAccount(namespace, name string) User {
	return User{Name: "system:serviceaccount:" + namespace + ":" + name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}}
}

// Credential is what a client outside shows for itself. The zero value is nobody's.
type Credential struct {
	// Certified is the user that a client certificate names; empty Name: none was shown.
	Certified User
	// Foreign: a certificate was shown that the cluster's authority did not sign.
	Foreign bool
	// Token is a bearer token.
	Token string
	// Impersonate is whom the client wants to be taken for; empty Name: itself.
	Impersonate User
}

// Outside is the machine in the model on which all clients from outside run.
const Outside = event.Outside

// ClientInfo is what a client outside tells of itself, for people.
type ClientInfo struct {
	// UserAgent as sent; Command and Session are kubectl's own headers ("kubectl get", one UUID per invocation).
	UserAgent, Command, Session string
}

// Values of Request.FieldValidation.
const (
	FieldsStrict = "Strict"
	FieldsWarn   = "Warn"
	FieldsIgnore = "Ignore"
)

// Request to an API server. In-process callers and HTTP handlers fill the same struct; only encoding differs.
type Request struct {
	Verb        Verb
	Kind        *kinds.Kind // nil: the request is for Path
	Namespace   string
	Name        string
	Subresource string // "status", "binding", "scale"; empty for the object itself
	// Path of a request that is about no resource ("/healthz", "/openapi/v3"): Kind is nil then, Verb is the HTTP method in small letters ("get", "head"). The server only
	// tells whether the caller may, and its Checks where the path asks for its health; what else is there, the caller of Serve knows.
	Path string

	// Object to create or update (for pods/binding a *corev1.Binding).
	Object kinds.Object
	// PatchType and Patch for Verb Patch. A server-side apply (types.ApplyPatchType) is YAML or JSON; Force takes fields from other managers.
	PatchType types.PatchType
	Patch     []byte
	Force     bool
	// FieldValidation says what becomes of fields in a patch that the kind does not have: FieldsStrict, FieldsWarn; empty or FieldsIgnore: they are dropped. Bodies that are
	// decoded before they get here are checked there.
	FieldValidation string
	// Face is the group and version in which the client sees the kind; nil: the kind's own. Objects in requests and answers are always of the kind itself; only a patch is in the
	// face's form.
	Face *kinds.Face
	// Query holds the parameters of a subresource that is an action ("log", "exec").
	Query url.Values
	// Delete options for Verb Delete; nil means defaults.
	Delete *metav1.DeleteOptions

	// ResourceVersion of a list or watch: "" the most recent, "0" whatever the cache holds, otherwise at least (list) or after (watch) that version.
	ResourceVersion string
	// ResourceVersionMatch of a list: "", "NotOlderThan" or "Exact".
	ResourceVersionMatch metav1.ResourceVersionMatch
	// SendInitialEvents asks a watch to begin with the present objects and to end them with a bookmark that says so.
	SendInitialEvents *bool
	Labels            labels.Selector
	Fields            fields.Selector
	Limit             int64
	Continue          string
	DryRun            bool
	// SendBookmarks asks a watch for bookmarks.
	SendBookmarks bool
	// WatchFor ends a watch after that time, simulated; 0: the server chooses.
	WatchFor time.Duration

	// Container is whose log is asked for, or in which something is to run; for those subresources of pods only.
	Container *ContainerQuery

	// User who asks. Programs of the cluster name theirs; for clients outside it is empty, and Credential tells.
	User       User
	Credential *Credential
	// Client describes a client outside; nil: a program of the cluster.
	Client *ClientInfo
	// Manager is the field manager, and what a log calls the caller ("kubelet", "kube-scheduler").
	Manager string
	// From is the calling process.
	From simnet.Addr
	// Cause is the record that led to this request.
	Cause event.Seq
	// Timeout of the whole request as the caller sees it, simulated; 0: DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout is the request deadline of the API server (as pkg/server/config.go: RequestTimeout 60 s) plus the way.
const DefaultTimeout = 62 * time.Second

// Response of an API server.
type Response struct {
	// Object read or written; nil for lists and for deletions that removed the object at once (Deleted then holds its last state).
	Object  kinds.Object
	Deleted kinds.Object
	// Items of a list, sorted by key; shared, immutable.
	Items []kinds.Object
	// Causes are the records of the items' last changes, where they are known; empty for a list that was read from the store.
	Causes   []event.Seq
	Continue string
	// RemainingItemCount is how many items follow behind a page; nil where that is not known.
	RemainingItemCount *int64
	// ResourceVersion of the object written, or of the list.
	ResourceVersion string
	// Err is an *apierrors.StatusError or nil.
	Err error
	// Warnings are for people, sent as Warning headers.
	Warnings []string
	// Status is the whole answer where it is no object ("binding", "eviction").
	Status *metav1.Status
	// Created: the request made the object (201), though its verb was not create.
	Created bool
	// Container is the answer to a request with a ContainerQuery.
	Container Container
	// Location is where a proxied request goes, behind Container: "http://10.224.8.2:80".
	Location string
	// Checks are what the server's health consists of, in the order of /readyz?verbose; for paths of health only.
	Checks []Check
	// Record is the journal's record that describes the write (RequestReceived), for causes; 0 when untraced.
	Record event.Seq
}

// Check is one part of a server's health ("etcd").
type Check struct {
	Name string
	// Failed: it does not hold now.
	Failed bool
	// Healthz, Livez and Readyz tell which of the paths look at it.
	Healthz, Livez, Readyz bool
}

// WatchEvent is one delivery of a watch.
type WatchEvent struct {
	// Type ADDED, MODIFIED, DELETED, BOOKMARK, ERROR.
	Type string
	// Object after the change, or the last state for DELETED; for BOOKMARK one that has a version and, behind the present objects, the annotation that says so, nothing else; nil for ERROR.
	Object          kinds.Object
	ResourceVersion string
	// Cause is the record of the change.
	Cause event.Seq
	// Err of Type ERROR: 410 Expired and the like.
	Err error
}

// Watch types beside event.Added, Modified, Deleted.
const (
	Bookmark   = "BOOKMARK"
	WatchError = "ERROR"
)

// WatchStream is an open watch.
type WatchStream = simnet.Stream[WatchEvent]

// Server is an API server as a Dialer sees it. Both run in a process of the server.
type Server interface {
	// Serve answers everything but watches.
	Serve(p *sim.Proc, r *Request) *Response
	// Watch opens a watch towards r.From; the error is an *apierrors.StatusError. via is the proxy on the way, if any.
	Watch(p *sim.Proc, r *Request, via *simnet.Addr) (*WatchStream, error)
}

// Endpoint is an API server and where it listens.
type Endpoint struct {
	Addr   simnet.Addr
	Server Server
}

// Process is what a component gets from the machine it runs on. A component's Start takes one, spawns its processes in Group and returns.
type Process struct {
	Loop *sim.Loop
	Net  *simnet.Net
	Sink event.Sink
	// Group dies with the program: when it exits, is killed, or its machine goes down.
	Group *sim.Group
	// Addr is host and process ("master-1", "scheduler").
	Addr simnet.Addr
	// Client to the API, as this component's user.
	Client *Client
	// Exit ends the program from inside; its kubelet restarts it by its restart policy. Does not return to the calling process.
	Exit func(p *sim.Proc, code int, message string)
	// Cause of the program's start.
	Cause event.Seq
	// Silenced tells which record keeps a host from being heard (a cut, a machine that is down); 0: none. For causes in the journal only, never for decisions.
	Silenced func(host string) event.Seq
}

// Throttled is the same program with a client of its own that is held back.
func (pr *Process) Throttled(perSecond, burst int) *Process {
	own, client := *pr, *pr.Client
	client.Throttle = NewThrottle(perSecond, burst)
	own.Client = &client
	return &own
}

// As is the same program with a client that is another user.
func (pr *Process) As(u User) *Process {
	own, client := *pr, *pr.Client
	client.User = u
	own.Client = &client
	return &own
}

// Actor is the process as an actor in the journal.
func (pr *Process) Actor() event.Actor { return event.On(pr.Addr.Process, pr.Addr.Host) }

// Go starts a process of the program.
func (pr *Process) Go(name string, fn func(*sim.Proc)) *sim.Proc {
	p := pr.Loop.Spawn(pr.Group, name, fn)
	if p.Cause == 0 {
		p.Cause = pr.Cause
	}
	return p
}

// Emit appends a fact with the process's cause.
func (pr *Process) Emit(p *sim.Proc, e event.Event) event.Seq {
	return pr.Sink.Emit(pr.Actor(), p.Cause, e)
}
