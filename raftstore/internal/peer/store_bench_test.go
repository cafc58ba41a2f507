package peer

import (
	"fmt"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/mvcc"
)

// BenchmarkStoreLogs stores one entry after the other: in memory, in a file a moment later, in a file at once, and forced to the medium. Entries of 300 bytes are single writes, those of 64 KiB
// groups; larger ones show why groups are divided: bolt writes the newest few anew each time.
func BenchmarkStoreLogs(b *testing.B) {
	for _, size := range []int{300, 64 << 10, 1 << 20} {
		for _, kind := range []string{"memory", "behind", "file", "synced"} {
			b.Run(fmt.Sprintf("%d/%s", size, kind), func(b *testing.B) {
				dir := ""
				if kind != "memory" {
					dir = b.TempDir()
				}
				d := NewDisk(dir, kind == "synced")
				o, err := d.open(hclog.NewNullLogger())
				if err != nil {
					b.Fatal(err)
				}
				defer func() { o.close() }()
				if kind == "behind" {
					if err := d.writeBehind(o); err != nil {
						b.Fatal(err)
					}
				}
				data := make([]byte, size)
				b.SetBytes(int64(size))
				last := uint64(0)
				for b.Loop() {
					last++
					if err := o.guard.StoreLogs([]*raft.Log{{Index: last, Term: 1, Data: data}}); err != nil {
						b.Fatal(err)
					}
					if last%1000 == 0 { // as after a snapshot
						if err := o.guard.DeleteRange(last-999, last-500); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

func BenchmarkEntry(b *testing.B) {
	for _, writes := range []int{1, 200} {
		var encoded []Encoded
		for i := range writes {
			encoded = append(encoded, EncodeTxn(uint64(i+1), mvcc.Txn{Then: []mvcc.Op{{Key: fmt.Sprint("/registry/pods/default/", i), Value: make([]byte, 256)}}}))
		}
		entry := EncodeEntry(1, encoded)
		b.Run(fmt.Sprintf("encode/%d", writes), func(b *testing.B) {
			b.SetBytes(int64(len(entry)))
			for b.Loop() {
				EncodeEntry(1, encoded)
			}
		})
		b.Run(fmt.Sprintf("decode/%d", writes), func(b *testing.B) {
			b.SetBytes(int64(len(entry)))
			for b.Loop() {
				if _, err := DecodeEntry(entry); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
