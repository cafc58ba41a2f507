package mvcc

import "strings"

// noEnd as an End means that there is none: all keys from the first on (etcd's "\x00").
const noEnd = "\x00"

// PrefixEnd is the smallest key after all keys that start with prefix; "\x00", which stands for no end, when there is none.
func PrefixEnd(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return noEnd
}

// span is an interval of keys, as Range and Op name it.
type span struct {
	first, end string
	// one: the key first alone. open: no end.
	one, open bool
}

func spanOf(key, end string) span {
	return span{first: key, end: end, one: end == "", open: end == noEnd}
}

func (s span) holds(key string) bool {
	if s.one {
		return key == s.first
	}
	return key >= s.first && (s.open || key < s.end)
}

// ascend visits the versions within s in key order.
func (s span) ascend(t *tree, visit func(*version) bool) {
	if s.one {
		if v, ok := t.get(s.first); ok {
			visit(v)
		}
		return
	}
	t.Ascend(pivot(s.first), func(v *version) bool { return (s.open || v.Key < s.end) && visit(v) })
}

// Prefix is the interval of all keys with a prefix, as Key and End of a Range.
func Prefix(prefix string) (key, end string) { return prefix, PrefixEnd(prefix) }

func compareKeys(a, b *version) int { return strings.Compare(a.Key, b.Key) }
