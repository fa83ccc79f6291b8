package queue

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/config"
)

// FuzzConfigReadsTheSame holds of any password: where the configuration takes the URL, it shows user and hosts as they are
// dialled here, and no password.
func FuzzConfigReadsTheSame(f *testing.F) {
	for _, password := range []string{
		"canary1", "can%40ary1", "can@ary1", "can:ary1", "can/ary1", "can?ary1", "can#ary1", "can%ary1", "can,ary1", "can[ary1", "can;ary1&a=b+c", "1@h3:9,h4", "ary1@h3/?x=",
	} {
		f.Add(password)
	}
	f.Fuzz(func(t *testing.T, password string) {
		if strings.Contains(password, "\x00") {
			return // no variable of the environment can hold it
		}
		for _, scheme := range []string{"nats", "amqps", "kafka+tls"} {
			cfg, err := config.Load(config.Environment{"RETRY_EVENTS_URL": scheme + "://u:" + password + "@h1:1,h2:2/"})
			if err != nil {
				continue
			}
			wantShown := scheme + "://u:***@h1:1,h2:2/"
			if scheme == "nats" {
				wantShown = scheme + "://***@h1:1,h2:2/"
			}
			want, err := url.PathUnescape(password)
			if err != nil || cfg.EventsURL.String() != wantShown {
				t.Errorf("%q is shown as %s, %v", password, cfg.EventsURL, err)
			}
			a, err := parse(string(cfg.EventsURL))
			if err != nil {
				t.Errorf("%q: %v", password, err)
				continue
			}
			got, _ := a.user.Password()
			if a.user.Username() != "u" || got != want || !slices.Equal(a.hosts, []string{"h1:1", "h2:2"}) || len(a.query) > 0 {
				t.Errorf("%q is dialled as %v, user %v, query %v", password, a.hosts, a.user, a.query)
			}
		}
	})
}
