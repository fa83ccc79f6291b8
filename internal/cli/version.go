package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set when the binary is linked: -ldflags "-X hospital.example/analyze-retry/internal/cli.version=v1.2.3".
var version string

// build is what this binary was made from.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// buildVersion returns the version given to the linker, else the one that the Go toolchain recorded.
func buildVersion() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		modified := ""
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				b.Commit = s.Value[:min(len(s.Value), 12)]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = "+changes"
			}
		}
		if b.Commit != "" {
			b.Commit += modified
		}
	}
	b.Version = cmp.Or(b.Version, "unknown")
	return b
}

func (b build) String() string {
	commit := ""
	if b.Commit != "" {
		commit = ", commit " + b.Commit
	}
	return fmt.Sprintf("analyze-retry worker %s%s (%s, %s)", b.Version, commit, b.Go, b.Platform)
}

func newVersion() *cobra.Command {
	command := &cobra.Command{
		Use:   "version",
		Short: "Print what this binary was built from",
		Args:  noArgs,
	}
	asJSON := command.Flags().Bool("json", false, "print one JSON object")
	command.RunE = func(command *cobra.Command, _ []string) error {
		b := buildVersion()
		return printAnswer(command, *asJSON, b, b.String()+"\n")
	}
	return command
}
