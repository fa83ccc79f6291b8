package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestReportIsWrittenIntoADirectory(t *testing.T) {
	a, dir := archived(t, week()), t.TempDir()
	path := filepath.Join(dir, "report_2026-01-01_2026-01-11.html")
	write(t, filepath.Join(dir, ".report_2026-01-01_2026-01-11.html.123.tmp"), "a run that was killed left this")
	other := filepath.Join(dir, ".report_2025-12-01_2025-12-31.html.123.tmp")
	write(t, other, "another report, perhaps being written")
	for range 2 { // the second one replaces the first
		args := []string{"report", "--from", "2026-01-01", "--to", "2026-01-11", "--tz", "America/Sao_Paulo", "--format", "html"}
		printed := a.must(t, args...)
		if got := a.must(t, append(args, "--dir", dir)...); got != path+"\n" {
			t.Errorf("it prints %q", got)
		}
		if read(t, path) != printed {
			t.Error("the file differs from what is printed without the flag")
		}
	}
	files, err := os.ReadDir(dir)
	check.Must(t, err)
	if len(files) != 2 || files[0].Name() != filepath.Base(other) {
		t.Errorf("the directory has %v", files)
	}
	// The last month, as the clock of the command has it.
	if got, want := a.must(t, "report", "--json", "--tz", "UTC", "--dir", dir), filepath.Join(dir, "report_2025-12-01_2025-12-31.json\n"); got != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
	a.fails(t, 1, "no such file or directory", "report", "--dir", filepath.Join(dir, "absent"))
}
