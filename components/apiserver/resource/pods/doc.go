// Package pods describes pods to the API server: defaults, checks and changes, and what pod templates share with them.
//
// Pure functions; no goroutine, no time.
package pods
