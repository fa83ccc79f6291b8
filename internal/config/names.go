package config

import (
	"regexp"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/text"
)

// names returns those of all variables that are read.
func names() []string {
	var all []string
	for _, field := range fields() {
		for _, name := range append([]string{field.Tag.Get("envconfig")}, aliases(field)...) {
			all = append(all, name)
			if fileVariable(field) != "" {
				all = append(all, name+fileSuffix)
			}
		}
	}
	return all
}

// others returns a text for each variable that is set and that is no setting, in alphabetical order. what returns the text
// without the name, empty for none.
func (e Environment) others(what func(name string) string) (texts []string) {
	known := names()
	for name, value := range e {
		if value == "" || slices.Contains(known, name) {
			continue
		}
		if s := what(name); s != "" {
			texts = append(texts, name+s)
		}
	}
	slices.Sort(texts)
	return texts
}

// unknownNames returns a fault for each unknown RETRY_ name, because a misspelt one would leave its default in place without a
// word.
func (e Environment) unknownNames() []string {
	return e.others(func(name string) string {
		if strings.HasPrefix(name, "RETRY_") {
			return " is not a setting" + remedy(name)
		}
		return ""
	})
}

// remedy returns what to do about an unknown name, empty where nothing is known.
func remedy(name string) string {
	known := names()
	if serviceLinkName.MatchString(name) {
		return "; if Kubernetes set it for a service called retry..., set enableServiceLinks: false on the pod"
	}
	closest := text.Nearest(name, known)
	if own := strings.TrimPrefix(name, "RETRY_"); slices.Contains(known, own) {
		closest = own
	}
	if closest == "" {
		return ""
	}
	return "; did you mean " + closest + "?"
}

// serviceLinkName matches the variables that Kubernetes sets for a service of the namespace.
var serviceLinkName = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT|_PORT$|_PORT_`)

// unreadNames returns a warning for each other variable whose name is one slip away from a setting's.
func (e Environment) unreadNames() []string {
	known := names()
	return e.others(func(name string) string {
		if i := slices.IndexFunc(known, func(other string) bool { return text.OneSlip(name, other) }); i >= 0 {
			return " is not read; did you mean " + known[i] + "?"
		}
		return ""
	})
}
