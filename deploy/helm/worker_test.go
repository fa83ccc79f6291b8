package helm_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// contents are what the mounted files hold, by their names.
func contents(t *testing.T, all []object) map[string]string {
	t.Helper()
	key, certificate := keyPair(t)
	return map[string]string{
		"database-url":        "postgres://analyze_retry_app:canary-1@db.example/analyze_retry\n",
		"events-url":          "amqps://analyze_retry:canary-2@queue.example\n",
		"http-token":          "canary-3-canary-3-canary-3\n",
		"zeebe-client-secret": "canary-4\n",
		"audit.key":           key,
		"ca.crt":              certificate,
		"tls.crt":             certificate,
		"tls.key":             key,
		"policies.yaml":       policies(all),
	}
}

// policies is the text of the rendered ConfigMap of policies, empty where there is none.
func policies(all []object) string {
	for _, o := range all {
		if strings.HasSuffix(o.name, "-policies") {
			return at[string](o.tree, "data", "policies.yaml")
		}
	}
	return ""
}

// keyPair is a key and a certificate that it signed itself, as PEM.
func keyPair(t *testing.T) (key, certificate string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"retry.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// The worker itself is asked: names, notations, and settings that need or exclude each other.
func TestTheWorkerTakesTheVariablesOfEveryPod(t *testing.T) {
	worker := filepath.Join(t.TempDir(), "worker")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", worker, "./cmd/worker")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the worker: %v\n%s", err, out)
	}
	for file, values := range valueFiles(t) {
		all := objects(t, values)
		contents := contents(t, all)
		for name, pod := range pods(t, all) {
			root := t.TempDir()
			for path := range mountedFiles(t, pod.Spec) {
				content, known := contents[filepath.Base(path)]
				if !known {
					t.Fatalf("%s, %s mounts %s, which no test knows", file, name, path)
				}
				write(t, root+path, content)
			}
			cmd := exec.CommandContext(t.Context(), worker, "config")
			// As in the image, which sets these two.
			cmd.Env = []string{"RETRY_DATABASE_URL=sqlite:///data/analyze-retry.db", "SQLITE_TMPDIR=/data"}
			for _, v := range pod.Spec.Containers[0].Env {
				value := v.Value
				if v.ValueFrom != nil {
					value = "given-by-kubernetes"
				}
				if strings.HasPrefix(value, "/etc/") {
					value = root + value
				}
				cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s", v.Name, value))
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s, %s: the worker refuses its variables: %v\n%s", file, name, err, out)
			}
			if strings.Contains(string(out), "canary") {
				t.Errorf("%s, %s: the worker shows a secret:\n%s", file, name, out)
			}
			store := "postgres://analyze_retry_app:***@db.example/analyze_retry"
			if file == "sqlite" {
				store = "sqlite:///data/analyze-retry.db"
			}
			if !strings.Contains(string(out), store) {
				t.Errorf("%s, %s: the store is not %s:\n%s", file, name, store, out)
			}
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
