package main

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/licensecheck"
)

// top is the checkout, seen from here.
const top = "../../.."

var update = flag.Bool("update", false, "write deploy/image/licenses.csv anew")

// allowed are the licences that let a binary be passed on as long as their text goes along. The Mozilla licence would
// ask for more, so it is not among them.
var allowed = []string{"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC"}

// accepted are files that say something else, each read by a person, with what was found there.
var accepted = map[string]string{
	"modernc.org/sqlite LICENSE-SQLITE":       "public domain",
	"modernc.org/sqlite LICENSE-3RD-PARTY.md": "of linked code BSD-3-Clause, MIT and public domain; the Mozilla licence there is of a module that is compiled into nothing",
	"modernc.org/libc LICENSE-3RD-PARTY.md":   "of linked code BSD-3-Clause and MIT",
	"modernc.org/memory LICENSE-LOGO":         "a picture, which is not linked",
	"std PATENTS":                             "a grant",
	"golang.org/x/crypto PATENTS":             "a grant",
	"golang.org/x/net PATENTS":                "a grant",
	"golang.org/x/sync PATENTS":               "a grant",
	"golang.org/x/sys PATENTS":                "a grant",
	"golang.org/x/term PATENTS":               "a grant",
	"golang.org/x/text PATENTS":               "a grant",
	"google.golang.org/protobuf PATENTS":      "a grant",
}

// notice matches the files that name authors and grant nothing.
var notice = regexp.MustCompile(`(?i)^notice`)

// licences returns the licences that a module is under, sorted, and whether each of its files is understood.
func licences(m module) ([]string, error) {
	names, err := files(m)
	if err != nil {
		return nil, err
	}
	var found []string
	var faults []error
	for _, name := range names {
		if _, known := accepted[m.Path+" "+name]; known || notice.MatchString(name) {
			continue
		}
		text, err := read(m, name)
		if err != nil {
			return nil, err
		}
		// What of a licence's file is not its text is a line of copyright, or as in yaml a list of files.
		cover := licensecheck.Scan([]byte(text))
		if cover.Percent < 80 {
			faults = append(faults, fmt.Errorf("%s: only %.0f %% of %s is the text of a known licence; read it", m.Path, cover.Percent, name))
		}
		for _, match := range cover.Match {
			if !slices.Contains(allowed, match.ID) {
				faults = append(faults, fmt.Errorf("%s: %s is under %s, which is not one of %v", m.Path, name, match.ID, allowed))
			}
			found = append(found, match.ID)
		}
	}
	if len(found) == 0 {
		faults = append(faults, fmt.Errorf("%s: no licence found in %v", m.Path, names))
	}
	slices.Sort(found)
	return slices.Compact(found), errors.Join(faults...)
}

var linkedHere = sync.OnceValues(func() ([]module, error) { return linked(top) })

func modules(t *testing.T) []module {
	t.Helper()
	all, err := linkedHere()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("the worker links %d modules: %v", len(all), all)
	}
	return all
}

func TestEverythingThatIsLinkedMayBePassedOn(t *testing.T) {
	used := map[string]bool{}
	for _, m := range modules(t) {
		if _, err := licences(m); err != nil {
			t.Error(err)
		}
		names, _ := files(m)
		for _, name := range names {
			used[m.Path+" "+name] = true
		}
	}
	for file := range accepted {
		if !used[file] {
			t.Errorf("%s is accepted and is not there any more", file)
		}
	}
}

func TestTheListOfLicencesIsUpToDate(t *testing.T) {
	const path = "../licenses.csv"
	var fresh strings.Builder // SPDX expressions
	rows := csv.NewWriter(&fresh)
	_ = rows.Write([]string{"module", "licence"})
	for _, m := range modules(t) {
		found, _ := licences(m) // the test above reports its faults
		if names, _ := files(m); slices.Contains(names, "LICENSE-SQLITE") {
			found = append(found, "LicenseRef-public-domain")
		}
		_ = rows.Write([]string{m.Path, strings.Join(found, " AND ")})
	}
	rows.Flush()
	if *update {
		if err := os.WriteFile(path, []byte(fresh.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != fresh.String() {
		t.Errorf("%s is out of date (%v), run make generate; want\n%s", path, err, fresh.String())
	}
}

func TestTheTextOfEveryLicenceGoesAlong(t *testing.T) {
	all := modules(t)
	var texts strings.Builder
	if err := write(&texts, all); err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		names, err := files(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := read(m, name)
			if err != nil {
				t.Fatal(err)
			}
			heading := fmt.Sprintf("\n%s %s (%s)\n", m.Path, m.Version, name)
			if !strings.Contains(texts.String(), heading) || !strings.Contains(texts.String(), text) {
				t.Errorf("%s: %s does not go along", m.Path, name)
			}
		}
	}
}

func TestAModuleWithoutAnAllowedLicenceIsRefused(t *testing.T) {
	const mozilla = `This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0.
If a copy of the MPL was not distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.`
	for name, c := range map[string]struct{ file, content, says string }{
		"none":          {"README", "use it as you like", "no licence file"},
		"own words":     {"LICENSE", "Use it as you like, on Tuesdays.", "read it"},
		"Mozilla":       {"LICENSE", mozilla, "is under MPL-2.0"},
		"only a notice": {"NOTICE", "Copyright 2026 somebody", "no licence found"},
	} {
		t.Run(name, func(t *testing.T) {
			m := module{Path: "example.org/m", Version: "v1.0.0", Dir: t.TempDir()}
			if err := os.WriteFile(filepath.Join(m.Dir, c.file), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := licences(m); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The broker's licence (Zeebe Community License) and the tools of tests stay out of what is passed on.
func TestWhatIsForTestsIsNotLinked(t *testing.T) {
	forTests := []string{
		"github.com/twmb/franz-go/pkg/kfake", "github.com/stretchr/testify",
		"go.uber.org/goleak", "pgregory.net/rapid", "github.com/google/go-cmp", "github.com/prometheus/prometheus",
	}
	for _, m := range modules(t) {
		if slices.ContainsFunc(forTests, func(p string) bool { return m.Path == p || strings.HasPrefix(m.Path, p+"/") }) {
			t.Errorf("%s is linked", m.Path)
		}
		if strings.Contains(m.Path, "camunda") && m.Path != "github.com/camunda/zeebe/clients/go/v8" {
			t.Errorf("%s is linked; only the client's stubs (Apache-2.0) may be", m.Path)
		}
	}
}
