package loopback_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/loopback"
)

func TestOnlyLoopbackHostsAreThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "::ffff:10.0.0.1": false, "128.0.0.1": false,
		"localhost.example": false, "127.0.0.1.example": false, "localhost:80": false, "[::1]": false,
	} {
		if got := loopback.Is(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
