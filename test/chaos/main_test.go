package chaos

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/devpostgres"
	"hospital.example/analyze-retry/test/suite"
)

// binary is the worker under test.
var binary string

// long says that the long form of every row is asked for.
var long = os.Getenv("CHAOS") == "long"

// either is a figure of a row: the one of the short form or that of the long one.
func either(short, inLong int) int {
	if long {
		return inLong
	}
	return short
}

func TestMain(m *testing.M) {
	os.Exit(suite.Run("chaos", func(dir string) (int, error) {
		binary = filepath.Join(dir, "worker")
		if err := suite.BuildWorker(binary); err != nil {
			return 1, err
		}
		code := devpostgres.Main{M: m}.Run()
		table.print()
		return code, goleak.Find()
	}))
}
