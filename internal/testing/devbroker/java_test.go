package devbroker

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTheVersionOfAJavaIsRead(t *testing.T) {
	for out, want := range map[string]int{
		`java version "1.8.0_392"`:                                                       8,
		`openjdk version "11.0.21" 2023-10-17`:                                           11,
		`openjdk version "17.0.15" 2025-04-15`:                                           17,
		`openjdk version "21" 2023-09-19`:                                                21,
		`openjdk version "21-ea" 2023-09-19`:                                             21,
		"Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version \"25.0.3\" 2026-04-21 LTS": 25,
	} {
		if got, err := parseJavaVersion(out); err != nil || got != want {
			t.Errorf("%s: got %d (%v), want %d", out, got, err, want)
		}
	}
	if _, err := parseJavaVersion("The operation couldn't be completed. Unable to locate a Java Runtime."); err == nil {
		t.Error("no error where there is no Java")
	}
}

// fakeJava writes a program that says it is a Java of this version.
func fakeJava(t *testing.T, home, version string) string {
	t.Helper()
	path := filepath.Join(home, "bin", "java")
	program(t, path, `echo 'openjdk version "`+version+`" 2025-04-15' >&2`)
	return path
}

func TestJavaIsLookedForInJavaHomeThenThePathThenTheUsualPlaces(t *testing.T) {
	onlyPrograms(t, nil)
	onPath := fakeJava(t, t.TempDir(), "21.0.1")
	t.Setenv("PATH", filepath.Dir(onPath)+":"+os.Getenv("PATH"))
	home := t.TempDir()
	t.Setenv("JAVA_HOME", home)
	inHome := fakeJava(t, home, "22")
	user := t.TempDir()
	t.Setenv("HOME", user)
	jvms := t.TempDir()
	usual := []string{fakeJava(t, filepath.Join(jvms, "a"), "17.0.1"), fakeJava(t, filepath.Join(jvms, "b"), "25")}
	users := fakeJava(t, filepath.Join(user, "javas", "c"), "23")

	found := javaCandidates([]string{jvms + "/*/bin/java", "~/javas/*/bin/java"})
	if want := []string{inHome, onPath, usual[0], usual[1], users}; !slices.Equal(found, want) {
		t.Errorf("got  %v\nwant %v", found, want)
	}
}

func TestTheFirstJavaThatIsNewEnoughIsTaken(t *testing.T) {
	onlyPrograms(t, nil)
	old := fakeJava(t, t.TempDir(), "17.0.15")
	broken := filepath.Join(t.TempDir(), "java")
	program(t, broken, "exit 1")
	first, second := fakeJava(t, t.TempDir(), "21"), fakeJava(t, t.TempDir(), "25")

	if got := installedJava(t.Context(), []string{"/no/such/java", old, broken, first, second}); got != first {
		t.Errorf("got %q, want %q", got, first)
	}
	if got := installedJava(t.Context(), []string{old, broken}); got != "" {
		t.Errorf("got %q, but none is new enough", got)
	}
}
