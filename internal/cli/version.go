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
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// buildVersion returns the version given to the linker, else the one that the Go toolchain recorded, which names the commit.
func buildVersion() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = cmp.Or(b.Version, info.Main.Version)
	}
	b.Version = cmp.Or(b.Version, "unknown")
	return b
}

func (b build) String() string {
	return fmt.Sprintf("analyze-retry worker %s (%s, %s)", b.Version, b.Go, b.Platform)
}

func newVersion() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "version",
		Short: "Print what this binary was built from",
		Args:  noArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			b := buildVersion()
			return printAnswer(command, b, b.String()+"\n")
		},
	}, "print one JSON object")
}
