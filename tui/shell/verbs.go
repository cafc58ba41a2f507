package shell

import "strings"

// verbs are the words that a line of kubectl may begin with. Not among them are help, which the console has too, and what is about the kubectl of a shell: completion, kuberc,
// options, plugin. A test in tui/cli holds the list to the kubectl that is built in.
const verbs = " annotate api-resources api-versions apply attach auth autoscale certificate cluster-info config cordon cp create debug delete describe diff drain edit events exec explain expose" +
	" get kustomize label logs patch port-forward proxy replace rollout run scale set taint top uncordon version wait "

// Verb reports a word of kubectl's that may stand alone, without the word kubectl in front. The words of the console that mean something else are not for this to know: there
// is a test that none is both.
func Verb(word string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(verbs, " "+word+" ")
}

// Verbs lists them.
func Verbs() []string { return strings.Fields(verbs) }
