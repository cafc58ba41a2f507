package settings

import "strings"

// The variables of the locale, the strongest first, for letters and for messages. Source: POSIX, "Internationalization Variables".
var (
	letters  = []string{"LC_ALL", "LC_CTYPE", "LANG"}
	messages = []string{"LC_ALL", "LC_MESSAGES", "LANG"}
)

// first variable that is set.
func first(names []string, getenv func(string) string) (name, value string) {
	for _, n := range names {
		if v := getenv(n); v != "" {
			return n, v
		}
	}
	return "", ""
}

// utf8Locale reports whether text may be UTF-8: the locale says so, or says nothing. That nothing is set is usual in containers and over ssh, where the terminal is
// that of the user's own machine; C, POSIX and other charsets are meant.
func utf8Locale(getenv func(string) string) bool {
	name, v := first(letters, getenv)
	if name == "" {
		return true
	}
	_, charset, _ := strings.Cut(v, ".")
	charset, _, _ = strings.Cut(charset, "@")
	charset = strings.ToLower(strings.ReplaceAll(charset, "-", ""))
	return charset == "utf8" || v == "UTF-8" // macOS has the bare form
}

// localeLanguage is the language that the locale asks for, where we have it and its letters can be drawn; else English.
func localeLanguage(getenv func(string) string) string {
	_, v := first(messages, getenv)
	if (v == "ru" || strings.HasPrefix(v, "ru_") || strings.HasPrefix(v, "ru.") || strings.HasPrefix(v, "ru@")) && utf8Locale(getenv) {
		return "ru"
	}
	return "en"
}

// localeVariable names what decided about letters, messagesVariable what decided about the language.
func localeVariable(getenv func(string) string) string { return decided(letters, getenv) }

func messagesVariable(getenv func(string) string) string { return decided(messages, getenv) }

func decided(names []string, getenv func(string) string) string {
	name, v := first(names, getenv)
	if name == "" {
		return "no locale is set"
	}
	return name + "=" + v
}
