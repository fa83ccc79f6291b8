package policy

import (
	"strconv"
	"strings"

	"hospital.example/analyze-retry/internal/retry"
)

// read returns the target with its value as a number: a share for 80%, seconds for 2h, and else the number itself. The schema
// has checked the form.
func (t Target) read() (read retry.Target, err error) {
	text := strings.TrimLeft(t.Target, "<>=")
	read = retry.Target{KPI: t.KPI, Bound: strings.TrimSuffix(t.Target, text), Source: t.Source}
	text = strings.TrimSpace(text)
	switch retry.KPIs()[t.KPI] {
	case retry.Share:
		read.Value, err = strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		read.Value /= 100
	case retry.Seconds:
		d, unread := ParseDuration(text)
		read.Value, err = d.Seconds(), unread
	case retry.Number:
		read.Value, err = strconv.ParseFloat(text, 64)
	}
	return read, err
}
