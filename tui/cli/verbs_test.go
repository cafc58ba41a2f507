package cli

import (
	"os"
	"slices"
	"testing"

	"example.com/kubeviz/components/kubectl/real"
	"example.com/kubeviz/engine/child"
	"example.com/kubeviz/tui/shell"
)

// TestVerbsAreTheCommandsOfKubectl: the console knows the words of the kubectl that is built in, so that a new version's are not forgotten.
func TestVerbsAreTheCommandsOfKubectl(t *testing.T) {
	home := t.TempDir()
	k := child.Kubectl{Program: []string{os.Args[0], real.Child}, Kubeconfig: home + "/config", Cache: home + "/cache", Home: home}
	offers, err := k.Complete(t.Context(), []string{""})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range offers {
		switch o.Word {
		case "help", "completion", "kuberc", "options", "plugin": // not for a console
		default:
			got = append(got, o.Word)
		}
	}
	want := shell.Verbs()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("kubectl has %q\nthe console %q", got, want)
	}
}
