// Package jsonpatch applies JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396) to documents: evanphx/json-patch behind the limits of an API server.
//
// The limits are given per call, never through the library's global variables; EnsurePathExistsOnAdd stays off and a panic becomes an error, because the
// library has a line of both (pitfalls K4). Imports of ours: none. Goroutines: pure functions. Time: none.
package jsonpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	evanphx "github.com/evanphx/json-patch/v5"
)

// OperationsMax is the most operations one patch may hold (fidelity API-7).
const OperationsMax = 10_000

// copiedMax bounds what the copy operations of one patch put in, in bytes.
const copiedMax = 3 << 20

// errMalformed marks patches that are no patches, whatever the document.
var errMalformed = errors.New("malformed patch")

// errTooMany marks patches with more than OperationsMax operations.
var errTooMany = errors.New("too many operations")

// IsTooMany tells a patch with too many operations.
func IsTooMany(err error) bool { return errors.Is(err, errTooMany) }

// malformed is the library's refusal to read a patch, in its own words.
type malformed struct{ error }

func (malformed) Is(target error) bool { return target == errMalformed }

// IsMalformed tells a patch that cannot be read from one that does not fit the document.
func IsMalformed(err error) bool { return errors.Is(err, errMalformed) }

// Apply runs a JSON Patch. Nothing of it is done when one operation fails.
func Apply(doc, patch []byte) (out []byte, err error) {
	defer recovered(&err)
	ops, err := evanphx.DecodePatch(patch)
	if err != nil {
		return nil, malformed{err}
	}
	if len(ops) > OperationsMax {
		return nil, fmt.Errorf("%w: %w: The allowed maximum operations in a JSON patch is %d, got %d", errMalformed, errTooMany, OperationsMax, len(ops))
	}
	o := evanphx.NewApplyOptions()
	o.SupportNegativeIndices = false
	o.AccumulatedCopySizeLimit = copiedMax
	o.EscapeHTML = false
	return ops.ApplyWithOptions(doc, o)
}

// Merge runs a JSON Merge Patch: null removes, objects merge, everything else replaces.
func Merge(doc, patch []byte) (out []byte, err error) {
	defer recovered(&err)
	if p := bytes.TrimSpace(patch); !json.Valid(p) || p[0] != '{' {
		return nil, fmt.Errorf("%w: not an object", errMalformed)
	}
	return evanphx.MergePatch(doc, patch)
}

func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: %v", errMalformed, v)
	}
}
