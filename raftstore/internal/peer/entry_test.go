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
		EncodeGrant(3, 1<<63-1, MaxTTL),
		EncodeRevoke(4, 5, false),
		EncodeRevoke(6, 5, true),
		EncodeRaise(7, mvcc.Alarm{Kind: mvcc.NoSpace, Member: "master-1"}),
		EncodeDisarm(8),
	})
}

func TestEntrySurvivesItsEncoding(t *testing.T) {
	e, err := DecodeEntry(sample())
	if err != nil {
		t.Fatal(err)
	}
	if e.Term != 7 || len(e.Commands) != 7 || e.Commands[0].Txn.Tag != 3 {
		t.Fatalf("%+v", e)
	}
	for i, want := range []Command{
		{ID: 2, Kind: Compact, Compact: 9}, {ID: 3, Kind: Grant, Lease: 1<<63 - 1, TTL: MaxTTL}, {ID: 4, Kind: Revoke, Lease: 5}, {ID: 6, Kind: Expire, Lease: 5},
		{ID: 7, Kind: Raise, Alarm: mvcc.Alarm{Kind: mvcc.NoSpace, Member: "master-1"}}, {ID: 8, Kind: Disarm},
	} {
		if got := e.Commands[i+1]; !reflect.DeepEqual(got, want) {
			t.Errorf("command %d is %+v, want %+v", i+1, got, want)
		}
	}
}

func TestCommandsThatMakeNoSenseAreDamage(t *testing.T) {
	for name, body := range map[string][]byte{
		"an unknown kind":                {99},
		"compaction to revision 0":       {byte(Compact), 0},
		"compaction with something else": {byte(Compact), 1, 1},
		"a lease without a name":         EncodeGrant(1, 0, 5).Body,
		"a lease for no time":            EncodeGrant(1, 5, 0).Body,
		"a lease for more than ever":     EncodeGrant(1, 5, MaxTTL+1).Body,
		"the end of no lease":            EncodeRevoke(1, 0, true).Body,
		"an alarm nobody knows":          EncodeRaise(1, mvcc.Alarm{Kind: "FIRE"}).Body,
		"an alarm cut short":             {byte(Raise), 7, 'N'},
		"disarming with something else":  {byte(Disarm), 0},
	} {
		if _, err := DecodeEntry(EncodeEntry(1, []Encoded{{ID: 1, Body: body}})); !errors.Is(err, mvcc.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
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
		for i := range e.Commands {
			again = append(again, e.Commands[i].Encode())
		}
		e2, err := DecodeEntry(EncodeEntry(e.Term, again))
		if err != nil || !reflect.DeepEqual(e, e2) {
			t.Fatalf("%+v, after a round trip %+v %v", e, e2, err)
		}
	})
}
