package devbroker

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// fakeJava writes a program that says it is a Java of this version.
func fakeJava(t *testing.T, home, version string) string {
	t.Helper()
	path := filepath.Join(home, "bin", "java")
	program(t, path, `echo 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g
openjdk version "`+version+`" 2025-04-15' >&2`)
	return path
}

func TestJavaIsLookedForInOrder(t *testing.T) {
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
	var tooOld []string
	for _, version := range []string{"1.8.0_392", "11.0.21", "17.0.15"} {
		tooOld = append(tooOld, fakeJava(t, t.TempDir(), version))
	}
	for _, script := range []string{"exit 1", "echo 'Unable to locate a Java Runtime.'"} {
		broken := filepath.Join(t.TempDir(), "java")
		program(t, broken, script)
		tooOld = append(tooOld, broken)
	}
	for _, version := range []string{"21", "21-ea", "25.0.3"} {
		first, second := fakeJava(t, t.TempDir(), version), fakeJava(t, t.TempDir(), "25")
		if got := installedJava(t.Context(), append(slices.Clip(tooOld), "/no/such/java", first, second)); got != first {
			t.Errorf("%s: got %q, want %q", version, got, first)
		}
	}
	if got := installedJava(t.Context(), tooOld); got != "" {
		t.Errorf("got %q, but none is new enough", got)
	}
}
