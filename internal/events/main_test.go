package events_test

import (
	"testing"

	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(devpostgres.Main{M: m}) }
