package mvcc

import (
	"errors"
	"fmt"
)

// MaxOps is how many compares, and how many operations per branch, a transaction may have (etcd's default of --max-txn-ops).
const MaxOps = 128

// Errors of Validate, with etcd's texts.
var (
	errEmptyKey     = errors.New("etcdserver: key is not provided")
	errDuplicateKey = errors.New("etcdserver: duplicate key given in txn request")
	errTooManyOps   = errors.New("etcdserver: too many operations in txn request")
)

// Validate tells whether t is a transaction this state machine accepts: keys not empty, no key put that the same branch puts or deletes otherwise (deletions may overlap, as in etcd),
// everything known. Apply itself does not check, so that members never disagree.
func Validate(t Txn) error {
	if max(len(t.If), len(t.Then), len(t.Else)) > MaxOps {
		return errTooManyOps
	}
	for _, c := range t.If {
		switch {
		case c.Key == "":
			return errEmptyKey
		case c.Target > Content:
			return fmt.Errorf("compare of %q: unknown target %d", c.Key, c.Target)
		case c.Relation > Less:
			return fmt.Errorf("compare of %q: unknown relation %d", c.Key, c.Relation)
		case len(c.Bytes) > 0 && c.Target != Content:
			return fmt.Errorf("compare of %q: bytes go with the content only", c.Key)
		}
	}
	for _, keys := range [2][]string{t.Read, t.ReadThen} {
		for _, key := range keys {
			if key == "" {
				return errEmptyKey
			}
		}
	}
	if err := validateOps(t.Then); err != nil {
		return err
	}
	return validateOps(t.Else)
}

func validateOps(ops []Op) error {
	for i := range ops {
		op := &ops[i]
		switch {
		case op.Key == "":
			return errEmptyKey
		case !op.Delete && op.End != "":
			return fmt.Errorf("put of %q: only a deletion may have an end", op.Key)
		case op.Delete && (op.Lease != 0 || len(op.Value) > 0):
			return fmt.Errorf("deletion of %q: it has neither a value nor a lease", op.Key)
		}
	}
	for i := range ops {
		if ops[i].Delete {
			continue
		}
		for j := range ops {
			if j != i && (ops[j].Delete || j < i) && spanOf(ops[j].Key, ops[j].End).holds(ops[i].Key) {
				return errDuplicateKey
			}
		}
	}
	return nil
}
