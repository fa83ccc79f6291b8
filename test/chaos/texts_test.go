package chaos

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/audit/sqlite"
	"hospital.example/analyze-retry/internal/contract"
	"hospital.example/analyze-retry/internal/job"
	"hospital.example/analyze-retry/internal/metrics"
	"hospital.example/analyze-retry/internal/policy"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/redacttest"
	handlers "hospital.example/analyze-retry/internal/worker" // a worker is a process here
)

// Row 26, with far more texts than a broker takes in the time: through the handler alone, into a real store. Seen to fail
// without: where the stored error is not redacted, the file holds patients.
func TestNoPersonalDataReachesTheFileOrTheLog(t *testing.T) {
	const texts, batch = 100_000, 200
	lanes.Take(t, true)
	began := time.Now()
	t.Cleanup(func() {
		table.add(t, 26, "personal data through the handler into the file (sqlite)", fmt.Sprint(texts, " texts"), began)
	})
	path := filepath.Join(t.TempDir(), "analyze-retry.db")
	var log bytes.Buffer
	logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&log), zap.DebugLevel))
	handle, closeStore := handlerOn(t, path, logger)
	patients := redacttest.Take(26_000, texts)
	finder := redacttest.NewFinder(patients...)
	answers, sample := &strings.Builder{}, &strings.Builder{}
	for from := 0; from < texts; from += batch {
		jobs := make([]job.Job, batch)
		for i, patient := range patients[from : from+batch] {
			if from == 0 {
				fmt.Fprintln(sample, patient.Text)
			}
			jobs[i] = jobAbout(t, from+i, patient.Text)
		}
		for i, answer := range handle(t.Context(), jobs) {
			if answer.Kind() == job.KindFail && (from+i)%10 != 1 {
				t.Fatalf("text %d was not decided: %s", from+i, answer.Message())
			}
			fmt.Fprintln(answers, answer.Message())
		}
	}
	closeStore()
	blobs := map[string][]byte{"the log": log.Bytes(), "what people read": []byte(answers.String())}
	files, err := filepath.Glob(path + "*")
	check.Must(t, err)
	for _, file := range files {
		if blobs[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if len(blobs[path]) < 100*texts {
		t.Fatalf("the file holds %d bytes: not what %d texts make", len(blobs[path]), texts)
	}
	if found := finder.Find([]byte(sample.String())); len(found) < batch {
		t.Fatalf("the finder is blind: %d secrets in %d texts", len(found), batch)
	}
	for name, blob := range blobs { // as it is: no clock has run
		if found := finder.Find(blob); len(found) > 0 {
			t.Errorf("%d pieces of personal data in %s, such as %v", len(found), name, found[0])
		}
	}
}

// handlerOn makes the handler on a store of its own, and returns what closes that.
func handlerOn(t *testing.T, path string, logger *zap.Logger) (handle func(context.Context, []job.Job) []job.Answer, closeStore func()) {
	t.Helper()
	secret := sameSecret(t)
	store, err := sqlite.Open(t.Context(), path, secret, sqlite.Options{})
	check.Must(t, err)
	// The seconds of a clock that runs, such as 01.051945, are now and then the day of somebody's birth: that made 36 hits
	// in 100,000 texts, all birth dates. With a clock that stands still there is none.
	stopped := func() time.Time { return time.Date(2025, 1, 12, 10, 40, 0, 0, time.UTC) }
	trail := handlers.Trail{Recorder: audit.NewRecorder(store, audit.RecorderOptions{Logger: logger}), Rounds: store, Secret: secret}
	h := handlers.NewHandler(handlers.Options{
		JobType: contract.JobType, Policy: "tiss", Policies: policy.BuiltIns, Trail: trail, Now: stopped,
		Observer: metrics.New(metrics.NewRegistry(), policy.BuiltIns().All()), Logger: logger,
	})
	return h.Handle, func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// sameSecret is the same key each time, so that hashes and signatures are, too: in some megabytes of other ones somebody's
// name may turn up each time.
func sameSecret(t *testing.T) *audit.Secret {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	check.Must(t, err)
	file := filepath.Join(t.TempDir(), "audit.key")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	secret, err := audit.LoadSecret(file)
	check.Must(t, err)
	return secret
}

// jobAbout is a job with this text: one in ten has its retries used up, and one in ten the text where none belongs.
func jobAbout(t *testing.T, number int, text string) job.Job {
	t.Helper()
	variables := map[string]any{"claimId": fmt.Sprint("CLM-26-", number), "submissionError": text, "retryCount": number % 5}
	switch number % 10 {
	case 0:
		variables["retryCount"] = 5
	case 1:
		variables = map[string]any{"claimId": text, "submissionError": []string{text}, "retryCount": text, "lastSubmissionTime": text}
	}
	raw, err := json.Marshal(variables)
	check.Must(t, err)
	return job.Job{Key: int64(number + 1), ProcessInstanceKey: 1, ElementID: "Task_AnalyzeRetry", Retries: 3, Variables: string(raw)}
}
