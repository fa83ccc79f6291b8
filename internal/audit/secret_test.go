package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
)

// A bare hash of a text with a CPF in it could be undone by trying all CPFs.
func TestTheHashOfTheInputsIsKeyed(t *testing.T) {
	t.Parallel()
	a, b := audittest.Secret(t), audittest.Secret(t)
	if a.Inputs("x", "y") == b.Inputs("x", "y") {
		t.Error("two keys make the same hash")
	}
	if again := a.Inputs("x", "y"); again != a.Inputs("x", "y") {
		t.Error("one key makes two hashes of the same inputs")
	}
	if a.Inputs("ab", "c") == a.Inputs("a", "bc") || a.Inputs("a") == a.Inputs("a", "") {
		t.Error("what belongs to one input counts as the next one's")
	}
}

func TestAKeyIsReadBackAndKeptForItsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.key")
	made := audittest.Secret(t)
	check.Must(t, made.Save(path))
	read, err := audit.LoadSecret(path)
	if err != nil || read.Inputs("x") != made.Inputs("x") || read.Public().ID() != made.Public().ID() {
		t.Errorf("read back: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	public, err := audit.LoadPublic(path)
	if err != nil || public.ID() != made.Public().ID() {
		t.Errorf("its public half: %v", err)
	}
	if err := made.Save(path); err == nil {
		t.Error("a key was written over another one")
	}
}

func TestAKeyIsNeverPrinted(t *testing.T) {
	t.Parallel()
	s := audittest.Secret(t)
	path := filepath.Join(t.TempDir(), "audit.key")
	check.Must(t, s.Save(path))
	if text := fmt.Sprintf("%v %s", s, s); strings.Count(text, s.Public().ID()) != 2 || len(text) > 80 {
		t.Errorf("printed as %s", text)
	}
}

func TestAFileThatIsNoKeyIsRefusedWithAdvice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.key")
	for _, content := range []string{"", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		check.Must(t, os.WriteFile(path, []byte(content), 0o600))
		if _, err := audit.LoadSecret(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestAKeyThatOthersCanReadIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.key")
	s := audittest.Secret(t)
	check.Must(t, s.Save(path))
	for mode, taken := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o640: true, 0o440: true, // fsGroup of Kubernetes gives the last two
		0o644: false, 0o604: false, 0o444: false, 0o660: false, 0o620: false, 0o601: false, 0o602: false, 0o777: false,
	} {
		check.Must(t, os.Chmod(path, mode))
		_, err := audit.LoadSecret(path)
		_, ofPublic := audit.LoadPublic(path)
		if (err == nil) != taken || (ofPublic == nil) != taken {
			t.Errorf("mode %04o: %v, %v", mode, err, ofPublic)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("has mode %04o", mode)) || err != nil && !strings.Contains(err.Error(), "run: chmod g-w,o= "+path) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}
