package peer

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"example.com/kubeviz/raftstore/mvcc"
)

func sample() []byte {
	return EncodeEntry(7, []Encoded{
		EncodeTxn(1, mvcc.Txn{ID: "x", Tag: 3, If: []mvcc.Compare{{Key: "a", Value: -1}}, Then: []mvcc.Op{{Key: "a", Value: []byte("v")}}, Read: []string{"a"}}),
		EncodeCompact(2, 9),
	})
}

func TestEntrySurvivesItsEncoding(t *testing.T) {
	e, err := DecodeEntry(sample())
	if err != nil {
		t.Fatal(err)
	}
	if e.Term != 7 || len(e.Commands) != 2 || e.Commands[0].Txn.Tag != 3 || e.Commands[1].Compact != 9 || e.Commands[1].ID != 2 {
		t.Fatalf("%+v", e)
	}
}

func TestDamagedEntriesAreErrors(t *testing.T) {
	good := sample()
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := DecodeEntry(bad); !errors.Is(err, mvcc.ErrDamaged) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
		if _, err := DecodeEntry(good[:i]); !errors.Is(err, mvcc.ErrDamaged) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

func TestMembersShareOneDecodedEntryOnlyWhenTheirBytesAreTheSame(t *testing.T) {
	d := new(Decoder)
	a, err := d.Decode(5, 7, sample())
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := d.Decode(5, 7, sample()); b != a {
		t.Error("the same bytes were decoded twice")
	}
	other := EncodeEntry(7, []Encoded{EncodeCompact(2, 8)})
	if b, err := d.Decode(5, 7, other); err != nil || b == a || b.Commands[0].Compact != 8 {
		t.Errorf("other bytes at the same place: %+v %v", b, err)
	}
	bad := sample()
	bad[3] ^= 1
	if _, err := d.Decode(5, 7, bad); !errors.Is(err, mvcc.ErrDamaged) {
		t.Errorf("damage passed because another member's bytes were good: %v", err)
	}
}

// FuzzDecodeEntry seals the bytes, so that the decoder behind the checksum is what is tried.
func FuzzDecodeEntry(f *testing.F) {
	b := sample()
	f.Add(b[:len(b)-4])
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEntry(mvcc.Seal(bytes.Clone(b)))
		if err != nil {
			if !errors.Is(err, mvcc.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		var again []Encoded
		for _, c := range e.Commands {
			if c.Compact > 0 {
				again = append(again, EncodeCompact(c.ID, c.Compact))
			} else {
				again = append(again, EncodeTxn(c.ID, c.Txn))
			}
		}
		e2, err := DecodeEntry(EncodeEntry(e.Term, again))
		if err != nil || !reflect.DeepEqual(e, e2) {
			t.Fatalf("%+v, after a round trip %+v %v", e, e2, err)
		}
	})
}
