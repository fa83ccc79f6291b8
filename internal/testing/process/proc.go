package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stat returns what /proc says about a process, from its state on; nil if it is gone or the system has no /proc.
func Stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The name, in parentheses, may hold anything.
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// Children returns the processes whose parent is pid, in a fixed order; none if the system has no /proc.
func Children(pid int) (children []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, entry := range entries {
		child, err := strconv.Atoi(filepath.Base(entry))
		if values := Stat(child); err == nil && len(values) > 1 && values[1] == strconv.Itoa(pid) {
			children = append(children, child)
		}
	}
	return children
}
