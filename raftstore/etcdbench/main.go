// Command etcdbench runs etcd's embedded server and raftstore side by side on the same disk and prints what each does, the ratio, and the goal.
//
//	go run . -quick            about a minute and a half: enough to see where things stand
//	go run .                   about eight minutes: the figures to quote
//	go run . -only synced,hold some of: unsynced, synced, read, watch, fail, hold
//
// Owns: the comparison. It is a module of its own, so that kubeviz does not depend on etcd. Imports of ours: raftstore, raftstore/mvcc.
//
// Both have three members in one process, at their default settings, and are called directly, etcd beneath gRPC. The contenders take turns in short
// rounds, so that what else the machine does meets both, and the median round counts. Values have 256 bytes. "synced" is etcd as it comes and raftstore with
// Options.Sync; "unsynced" is etcd with --unsafe-no-fsync and raftstore as it comes.
//
// Goroutines: the parent does one thing at a time. Time: wall.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	quick := flag.Bool("quick", false, "short rounds, few trials")
	only := flag.String("only", "unsynced,synced,read,watch,fail,hold", "what to measure")
	base := flag.String("dir", os.TempDir(), "where both keep their files")
	name := flag.String("contender", "", "be this contender (used by the program itself)")
	sync := flag.Bool("sync", false, "with -contender: force writes to the medium")
	flag.Parse()
	if *name != "" {
		if err := serve(*name, *base, *sync); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	p := full
	if *quick {
		p = short
	}
	rows, err := p.run(*base, strings.Split(*only, ","))
	fmt.Print(table(rows))
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcdbench:", err)
		os.Exit(1)
	}
}
