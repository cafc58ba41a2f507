// Command kubeviz shows a whole Kubernetes cluster as a live model that can be looked into and broken. What its words do is in tui/cli.
package main

import (
	"os"

	"example.com/kubeviz/tui/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:])) }
