// Package volumes checks what pods, persistent volumes and claims say alike of storage: the sources of volumes, access modes, claims.
//
// Pure functions; no goroutine, no time. The words and their order are those of k/k pkg/apis/core/validation, warts included (paths of fields that do not exist).
package volumes
