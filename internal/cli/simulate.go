package cli

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hospital.example/analyze-retry/internal/retry/simulate"
	"hospital.example/analyze-retry/internal/text"
)

// mostClaims bounds a simulation: more claims show nothing new.
const mostClaims = 1_000_000

func (p *program) simulate() *cobra.Command {
	command := &cobra.Command{Use: "simulate --outage SPAN"}
	var s simulate.Scenario
	flags := command.Flags()
	names := flags.StringArray("policy", []string{"tiss"}, policyUsage+"; repeatable")
	outage := spanFlag(flags, "outage", "", "how long the insurer is down")
	flags.IntVar(&s.Claims, "claims", 10_000, "how many claims to invent")
	flags.StringVar(&s.Error, "error", "TIMEOUT", "text of every failure")
	_ = command.MarkFlagRequired("outage") // it is there
	return p.answers(command, language, func(c *call) (any, error) {
		s.Outage = *outage
		c.wrong.when(s.Claims < 1 || s.Claims > mostClaims, text.Messagef("--%s is %q; give it as %s",
			"claims", strconv.Itoa(s.Claims), "1 to 1000000"))
		c.wrong.when(strings.TrimSpace(s.Error) == "", text.Messagef("--%s is empty", "error"))
		if c.wrong != nil {
			return nil, c.wrong
		}
		answer := &simulation{Claims: s.Claims, Error: s.Error}
		for _, name := range *names {
			_, one, err := namedPolicy(name)
			if err != nil {
				return nil, err
			}
			answer.Policies = append(answer.Policies, simulate.Run(one, s))
		}
		answer.say(c.w, *names)
		return answer, nil
	})
}

// simulation is what simulate answers. Its JSON form is stable: names are added, never changed.
type simulation struct {
	Claims int    `json:"claims"`
	Error  string `json:"submissionError"`
	// Policies are those that are compared, in the order in which they were named.
	Policies []*simulate.Result `json:"policies"`
}

// say words the simulation, each policy as it was named: by its name or a file.
func (s *simulation) say(w *wording, names []string) {
	heads := w.heads("ACCEPTED", "GIVEN UP", "IN VAIN", "A MINUTE", "MEDIAN")
	rows := [][]string{append(heads, "95 %")}
	span := func(seconds int64) string {
		if seconds == 0 {
			return "-"
		}
		return w.About(time.Duration(seconds) * time.Second)
	}
	for i, r := range s.Policies {
		name := filepath.Base(names[i])
		w.sayf("%s: policy %s, version %s, takes the error for %s (rule %s).",
			name, r.Policy, r.Version, w.Name("class", string(r.Class)), r.RuleID)
		rows = append(rows, []string{name}, []string{ // a name of any length leaves the columns as they are
			s.share(r.Accepted),
			s.share(r.GivenUp),
			fmt.Sprint(r.InVain),
			fmt.Sprint(r.InAMinute),
			span(r.Median),
			span(r.P95),
		})
	}
	w.WriteString("\n")
	w.table("", rows)
	w.WriteString("\n")
	w.sayf("IN VAIN: retries in an outage. A MINUTE: the most retries within any minute. " +
		"MEDIAN, 95 %%: from the first failure to the acceptance.")
}

// share is a number of claims and its part of all, rounded; it is 100 % only for all, and 0 % only for none.
func (s *simulation) share(claims int) string {
	percent := (100*claims + s.Claims/2) / s.Claims
	if 0 < claims && claims < s.Claims {
		percent = min(max(percent, 1), 99)
	}
	return fmt.Sprintf("%d (%d %%)", claims, percent)
}
