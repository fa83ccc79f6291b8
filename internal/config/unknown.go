package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"hospital.example/analyze-retry/internal/spelling"
)

// foreignNames reports, in alphabetical order, the variables that somebody set in the belief that they are settings:
// every unknown RETRY_ name (a misspelt one would otherwise leave its default in place without a word), and ZEEBE_HOST and
// ZEEBE_PORT, which Zeebe's own clients read, where ZEEBE_ADDRESS is not set. An empty variable counts as unset, like
// everywhere.
func foreignNames() []string {
	known := names()
	var texts []string
	for _, name := range []string{"ZEEBE_HOST", "ZEEBE_PORT"} {
		if value := os.Getenv(name); value != "" && !serviceLink(value) && os.Getenv("ZEEBE_ADDRESS") == "" {
			texts = append(texts, name+" is not read by this worker; set ZEEBE_ADDRESS to host:port")
		}
	}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "RETRY_") || value == "" || slices.Contains(known, name) {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s is not a setting%s", name, remedy(name, known)))
	}
	slices.Sort(texts)
	return texts
}

// names are those of all variables that are read.
func names() []string {
	var all []string
	for _, field := range fields() {
		all = append(all, field.Tag.Get("envconfig"))
		if file := fileVariable(field); file != "" {
			all = append(all, file)
		}
	}
	return all
}

// remedy says what to do about an unknown name, where that can be told.
func remedy(name string, known []string) string {
	if strings.HasSuffix(name, "_SERVICE_HOST") || strings.Contains(name, "_SERVICE_PORT") ||
		strings.HasSuffix(name, "_PORT") || strings.Contains(name, "_PORT_") {
		return "; if Kubernetes set it for a service called retry..., set enableServiceLinks: false on the pod"
	}
	if own := strings.TrimPrefix(name, "RETRY_"); slices.Contains(known, own) {
		return "; did you mean " + own + "?"
	}
	if closest := spelling.Nearest(name, known); closest != "" {
		return "; did you mean " + closest + "?"
	}
	return ""
}
