package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine is what the figures were measured on.
type machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	OS    string `json:"os"`
	Go    string `json:"go"`
}

func thisMachine() machine {
	return machine{CPU: cpuModel(), Cores: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
}

func cpuModel() string {
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if model := strings.TrimLeft(field(string(text), "model name"), "\t: "); model != "" {
			return model
		}
	}
	if name, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
		return strings.TrimSpace(string(name))
	}
	return "unknown CPU"
}

// load is the machine's load averages, or what says that they are not known: other programs that run make the figures
// spread.
func load() string {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if averages := strings.Fields(string(text)); len(averages) >= 3 {
			return strings.Join(averages[:3], " ")
		}
	}
	return "unknown"
}
