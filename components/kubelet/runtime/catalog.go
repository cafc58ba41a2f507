package runtime

import (
	"regexp"
	"strconv"
	"strings"
)

// releases are the tags that the well-known repositories have: words, and versions whose first parts lie within bounds. A tag that is mistyped, or made up to see what comes of it, is not
// found, as it would not be. Of all other repositories nothing is known, so that they have every tag.
type releases struct {
	// words are tags, or what tags begin with before a flavour ("stable-alpine").
	words string
	// versions are the first parts of versions, each an interval: "1.7-1.31" has 1.7 to 1.31 with all that is below them, "3-8" whole major versions.
	versions string
}

const debian = " trixie bookworm bullseye buster stretch"

var catalog = map[string]releases{
	"nginx":    {"latest stable mainline alpine perl otel" + debian, "1.7-1.33"},
	"httpd":    {"latest alpine" + debian, "2.2-2.4"},
	"redis":    {"latest alpine" + debian, "3-8"},
	"busybox":  {"latest stable unstable musl glibc uclibc", "1.21-1.40"},
	"alpine":   {"latest edge", "2.6-2.7 3.1-3.26"},
	"ubuntu":   {"latest rolling devel trusty xenial bionic focal jammy noble plucky questing resolute", "14.04-14.04 16.04-16.04 18.04-18.04 20.04-20.04 22.04-22.04 24.04-24.10 25.04-25.10 26.04-26.10"},
	"debian":   {"latest stable unstable testing oldstable sid forky" + debian, "7-13"},
	"python":   {"latest slim alpine" + debian, "2.7-2.7 3.4-3.15"},
	"node":     {"latest slim alpine lts current" + debian, "4-26"},
	"postgres": {"latest alpine" + debian, "9.0-9.6 10-18"},
	"mysql":    {"latest lts innovation oracle", "5.5-5.7 8.0-8.4 9.0-9.6"},

	"gcr.io/google-samples/kubernetes-bootcamp": {"v1", ""},
	"jocatalin/kubernetes-bootcamp":             {"latest v1 v2", ""},
	"gcr.io/google-samples/hello-app":           {"latest", "1.0-1.0 2.0-2.0"},
}

var (
	version = regexp.MustCompile(`^\d+(\.\d+){0,3}$`)
	flavour = regexp.MustCompile(`^(alpine|slim|perl|otel|musl|glibc|uclibc|management|oracle|oraclelinux|debian|trixie|bookworm|bullseye|buster|stretch|jammy|noble|(alpha|beta|rc)\d*)[0-9.]*$`)
)

// has reports whether a repository has a tag.
func (r releases) has(tag string) bool {
	first, rest, flavoured := strings.Cut(tag, "-")
	if flavoured {
		for part := range strings.SplitSeq(rest, "-") {
			if !flavour.MatchString(part) && !version.MatchString(part) {
				return false
			}
		}
	}
	for w := range strings.FieldsSeq(r.words) {
		if first == w {
			return true
		}
		if n, ok := strings.CutPrefix(first, w); ok && flavour.MatchString(w) && version.MatchString(n) { // "alpine3.22"
			return true
		}
	}
	if !version.MatchString(first) {
		return false
	}
	for span := range strings.FieldsSeq(r.versions) {
		low, high, _ := strings.Cut(span, "-")
		if within(first, low, high) {
			return true
		}
	}
	return false
}

// within compares the parts that low and high have; a shorter version ("1") stands for the newest of its line.
func within(v, low, high string) bool {
	return compare(v, low) >= 0 && compare(v, high) <= 0
}

func compare(v, bound string) int {
	a, b := strings.Split(v, "."), strings.Split(bound, ".")
	for i := 0; i < len(a) && i < len(b); i++ {
		x, _ := strconv.Atoi(a[i]) // digits; what is too long for a number is greater than all
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x - y
		}
	}
	return 0
}
