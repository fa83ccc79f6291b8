package config_test

import (
	"path/filepath"
	"testing"
)

func TestWhatIsServedIsShownToOtherHostsOnPurposeOnly(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.pem")
	certificate, key := pair(t)
	_, otherKey := pair(t)
	exposed := func(address string) string {
		return `RETRY_HTTP_ADDRESS is "` + address + `", which other hosts can reach; set RETRY_HTTP_TOKEN or RETRY_HTTP_TOKEN_FILE, or serve TLS ` +
			`with RETRY_HTTP_TLS_CERTIFICATE_PATH and RETRY_HTTP_TLS_KEY_PATH, or use a loopback address such as 127.0.0.1:8080`
	}
	const badToken = `RETRY_HTTP_TOKEN is too short, or no text for a header; allowed: 16 or more printable ASCII characters without blanks (openssl rand -hex 32)`
	checkFaults(t, []faultCase{
		{"metrics for everybody", []string{"RETRY_HTTP_ADDRESS=:8080"}, exposed(":8080")},
		{"metrics for everybody, spelt out", []string{"RETRY_HTTP_ADDRESS=0.0.0.0:8080"}, exposed("0.0.0.0:8080")},
		{"metrics for one network", []string{"RETRY_HTTP_ADDRESS=10.0.0.1:8080"}, exposed("10.0.0.1:8080")},
		{"metrics for everybody with a token", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN=0123456789abcdef"}, ""},
		{"metrics for everybody by TLS", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate, "RETRY_HTTP_TLS_KEY_PATH=" + key}, ""},
		{"a token that can be guessed", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TOKEN=0123456789abcde"}, badToken},
		{"a token with a blank", []string{"RETRY_HTTP_TOKEN=0123456789 abcdef"}, badToken},
		{"a token that no header can carry", []string{"RETRY_HTTP_TOKEN=0123456789abcdéf"}, badToken},
		{"a certificate to serve without its key", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate}, `RETRY_HTTP_TLS_KEY_PATH is missing; RETRY_HTTP_TLS_CERTIFICATE_PATH needs it`},
		{"a key to serve without its certificate", []string{"RETRY_HTTP_ADDRESS=:8080", "RETRY_HTTP_TLS_KEY_PATH=" + key}, `RETRY_HTTP_TLS_CERTIFICATE_PATH is missing; RETRY_HTTP_TLS_KEY_PATH needs it`},
		{"a certificate to serve that is not there", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + missing, "RETRY_HTTP_TLS_KEY_PATH=" + key}, `RETRY_HTTP_TLS_CERTIFICATE_PATH is "` + missing + `", which cannot be read: no such file or directory`},
		{"a key that is not there", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate, "RETRY_HTTP_TLS_KEY_PATH=" + missing}, `RETRY_HTTP_TLS_KEY_PATH is "` + missing + `", which cannot be read: no such file or directory`},
		{"a key of another certificate", []string{"RETRY_HTTP_TLS_CERTIFICATE_PATH=" + certificate, "RETRY_HTTP_TLS_KEY_PATH=" + otherKey}, `RETRY_HTTP_TLS_CERTIFICATE_PATH and RETRY_HTTP_TLS_KEY_PATH are no certificate and its key: tls: private key does not match public key`},
		{"profiles for this host", []string{"RETRY_PPROF_ADDRESS=[::1]:0"}, ""},
		{"profiles for everybody", []string{"RETRY_PPROF_ADDRESS=:6060"}, `RETRY_PPROF_ADDRESS is ":6060", but profiles are for this host only; use a loopback address such as 127.0.0.1:6060`},
		{"profiles for everybody with a token", []string{"RETRY_PPROF_ADDRESS=10.0.0.1:6060", "RETRY_HTTP_TOKEN=0123456789abcdef"}, `RETRY_PPROF_ADDRESS is "10.0.0.1:6060", but profiles are for this host only; use a loopback address such as 127.0.0.1:6060`},
		{"profiles at no address", []string{"RETRY_PPROF_ADDRESS=on"}, `RETRY_PPROF_ADDRESS is "on", but profiles are for this host only; use a loopback address such as 127.0.0.1:6060`},
	})
}
