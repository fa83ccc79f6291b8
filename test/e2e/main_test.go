package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/test/suite"
)

// What all tests share: the worker's binary and the directory of its logs.
var binary, logs string

func TestMain(m *testing.M) {
	os.Exit(suite.Run("e2e", 8, func(dir string) (int, error) {
		binary, logs = filepath.Join(dir, "worker"), dir
		if err := suite.BuildWorker(binary); err != nil {
			return 1, err
		}
		code := m.Run()
		return code, errors.Join(findInLogs("panic", "DATA RACE"), goleak.Find())
	}))
}

// findInLogs fails where a worker of any test wrote one of the words.
func findInLogs(words ...string) error {
	files, err := filepath.Glob(filepath.Join(logs, "*.log"))
	for _, file := range files {
		text, failed := os.ReadFile(file)
		err = errors.Join(err, failed)
		for line := range strings.Lines(string(text)) {
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
				err = errors.Join(err, fmt.Errorf("a worker logged: %s", line))
			}
		}
	}
	return err
}
