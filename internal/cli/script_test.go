package cli_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"hospital.example/analyze-retry/internal/audit"
	"hospital.example/analyze-retry/internal/cli"
	"hospital.example/analyze-retry/internal/ops"
	"hospital.example/analyze-retry/internal/testing/audittest"
	"hospital.example/analyze-retry/internal/testing/check"
	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

// leakless runs the tests and finds goroutines that they left behind.
type leakless struct{ devpostgres.Main }

func (m leakless) Run() int {
	code := m.Main.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestMain(m *testing.M) {
	time.Local = time.UTC // the system of the tests
	testscript.Main(leakless{devpostgres.Main{M: m}}, map[string]func(){"worker": worker})
}

// worker is the program of the scripts: the command line, today. An output that does not suit a terminal is a failure of its
// own.
func worker() {
	var out, complaints bytes.Buffer
	args := os.Args[1:]
	code := cli.Run(context.Background(), func() time.Time { return today }, args, &out, &complaints)
	people := regexp.MustCompile(`^(history|kpi|explain|simulate|policies|models|redrive|audit|claims)\b`)
	forPeople := people.MatchString(strings.Join(args, " ")) && !slices.Contains(args, "--csv")
	if found := unfit(strings.TrimPrefix(out.String(), "\ufeff"), forPeople) + unfit(complaints.String(), false); found != "" {
		complaints.WriteString("does not suit a terminal: " + found)
		code = 70
	}
	fmt.Fprint(os.Stdout, masked(out.String(), args))
	fmt.Fprint(os.Stderr, masked(complaints.String(), args))
	os.Exit(code)
}

// longWord is what no line can be broken at, such as a path, JSON or YAML.
var longWord = regexp.MustCompile(`^[{"]|\S{30}|^\w+: `)

// unfit returns the first line with which an output commands a terminal, or, if it is for people, that is wider than one.
func unfit(output string, forPeople bool) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		commands := strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) })
		if commands || forPeople && utf8.RuneCountInString(line) > 80 && !longWord.MatchString(strings.TrimSpace(line)) {
			return line
		}
	}
	return ""
}

// masks hide what differs from one run to the next, and the versions of policies, so that a word more in one of them changes
// no script.
var masks = []struct {
	hidden *regexp.Regexp
	shown  string
}{
	{regexp.MustCompile(`(version |versão |"policyVersion": ?"|"version": ?"|(?:policy|política) \w+\s+)[0-9a-f]{12}\b`), "${1}VERSION"},
	{regexp.MustCompile(`\b(hash\s+)[0-9a-f]{12}\b|\b[0-9a-f]{64}\b`), "${1}HASH"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "UUID"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]{4,5}\b`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`(\b(?:key|chave) +|"key": ?")[0-9a-f]{16}\b`), "${1}KEY"},
}

var headMask = regexp.MustCompile(`"(at|signature)": ?"[^"]*"`)

func masked(text string, args []string) string {
	if os.Getenv("UNMASKED") != "" {
		return text
	}
	store := filepath.Dir(strings.TrimPrefix(os.Getenv("RETRY_DATABASE_URL"), "sqlite://"))
	for _, dir := range []string{store, os.Getenv("WORK")} {
		if filepath.IsAbs(dir) {
			text = strings.ReplaceAll(text, dir, "$WORK")
		}
	}
	for _, mask := range masks {
		text = mask.hidden.ReplaceAllString(text, mask.shown)
	}
	if len(args) > 1 && args[0] == "audit" && args[1] != "export" { // the heads were signed when the test ran
		text = headMask.ReplaceAllString(text, `"$1":"MASKED"`)
	}
	return text
}

// A script is a session: what a person types, and what the worker answers. It has these commands of its own:
//
//	store [WHICH [N]]  a store with what happened in the week before today, in the decade before, or in that
//	                   to a claim that is open (open); with the first N of these records only
//	later              adds the other records to it
//	published N        a worker with a queue has published the first N records
//	running            a worker has the store open until the session ends
//	hospital [CLAIM]   a broker, and a store whose claims can be sent again, this one in a model that knows redriveWait
//	tamper SQL...      changes the file of the store, past everything that guards the records
//	ready [reason]     a worker that answers /readyz
//	exits CODE CMD...  like "! exec", with the exit code
//
// An output is as it is where UNMASKED is set.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("RETRY_TZ", "UTC")
			env.Setenv("MODELS", mustAbs("../modellint/testdata"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"store": func(ts *testscript.TestScript, _ bool, args []string) {
				left, err := filepath.Glob(ts.MkAbs("store.db*")) // by the store before it
				check.Must(t, err)
				for _, file := range left {
					check.Must(t, os.Remove(file))
				}
				records, first := stored(args)
				setAll(ts, archivedAt(t, ts.MkAbs("store.db"), records[:first]).settings)
				ts.Setenv("STORED", strings.Join(args, " "))
			},
			"later": func(ts *testscript.TestScript, _ bool, _ []string) {
				defer unforked()()
				store := worksOn(t, ts)
				records, first := stored(strings.Fields(ts.Getenv("STORED")))
				audittest.Append(t, store, records[first:]...)
				closed(t, store)
			},
			"published": func(ts *testscript.TestScript, _ bool, args []string) {
				defer unforked()()
				store := worksOn(t, ts)
				lead, err := store.Lead(t.Context())
				check.Must(t, err)
				defer lead.Release()
				n, _ := strconv.Atoi(args[0])
				records, err := lead.Unpublished(t.Context(), n)
				check.Must(t, err)
				for i := range records {
					check.Must(t, lead.Published(t.Context(), []int64{records[i].ID}))
				}
				closed(t, store)
			},
			"running": func(ts *testscript.TestScript, _ bool, _ []string) {
				store := worksOn(t, ts)
				ts.Defer(func() { closed(t, store) })
			},
			"hospital": func(ts *testscript.TestScript, _ bool, args []string) {
				setAll(ts, openHospital(t, args...).settings)
			},
			"tamper": func(ts *testscript.TestScript, _ bool, statements []string) {
				db, err := sql.Open("sqlite", strings.TrimPrefix(ts.Getenv("RETRY_DATABASE_URL"), "sqlite://"))
				check.Must(t, err)
				defer db.Close()
				for _, statement := range statements {
					_, err := db.ExecContext(t.Context(), statement)
					check.Must(t, err)
				}
			},
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				var exit *exec.ExitError
				if err := ts.Exec(args[1], args[2:]...); !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
					ts.Fatalf("got %v, want exit status %s", err, args[0])
				}
			},
			"ready": func(ts *testscript.TestScript, _ bool, args []string) {
				setAll(ts, []string{"RETRY_HTTP_ADDRESS=" + serveReady(t, strings.Join(args, " "))})
			},
		},
	})
}

// stored returns the records that "store" is asked for, and how many of them are there at first.
func stored(args []string) (records []audit.Record, first int) {
	records = week()
	if len(args) > 0 && args[0] != "week" {
		records = decade(args[0] == "open")
	}
	first = len(records)
	if len(args) > 1 {
		first, _ = strconv.Atoi(args[1])
	}
	return records, first
}

// worksOn opens the store of a script as a worker does.
func worksOn(t *testing.T, ts *testscript.TestScript) audit.Store {
	t.Helper()
	path := ts.MkAbs("store.db")
	secret, err := audit.LoadSecret(path + ".key")
	check.Must(t, err)
	return (&archive{path: path, secret: secret}).open(t)
}

func setAll(ts *testscript.TestScript, settings []string) {
	for _, entry := range settings {
		name, value, _ := strings.Cut(entry, "=")
		ts.Setenv(name, value)
	}
}

func mustAbs(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return path
}

// serveReady serves what a worker serves that is not ready for a reason, or ready for none, and returns its address.
func serveReady(t *testing.T, reason string) string {
	t.Helper()
	server, err := ops.New(ops.Options{
		Address: "127.0.0.1:0", Metrics: prometheus.NewRegistry(),
		Ready: func() error {
			if reason != "" {
				return errors.New(reason)
			}
			return nil
		},
	})
	check.Must(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() { check.Must(t, errors.Join(server.Close(), <-served)) })
	return server.Addr()
}
