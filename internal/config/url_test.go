package config_test

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/check"
)

// hostile are passwords that were seen to be read in two ways, or could be. None shares four letters with a URL's other parts.
var hostile = []string{
	"can@ary1", "can@ary1@zwei", "@canary1", "can:ary1", "can:1234", "can/ary1", "1234/canary1", "can?ary1", "1234?canary1", "can#ary1", "can%ary1",
	"canary1%4", "can%00ary1", "can ary1", "can\nary1", "can\x00ary1", "can\u202eary1", "çanary1", "can\\ary1", "[can]ary1", "can\"ary1", "can`ary1",
	"can@ary1:5432/qqqq?", "can@[::1]:ary1", "can,ary1@zwei,drei", "can%40ary1@zwei", "can@ary1?host=zwei", "can\x9bary1",
	// Those that every library reads alike.
	"canary1", "can%40ary1", "can%3a%23%3F%25ary1", "can,ary1", "can&ary1=zwei", "can+ary1", "can!$'()*ary1", "sslmode=disable", "~canary1.-_",
}

// urlForms are all settings that hold a URL with a password, the password as %s.
var urlForms = []struct{ setting, form string }{
	{"RETRY_DATABASE_URL", "postgres://u:%s@h:1/db"},
	{"RETRY_EVENTS_URL", "amqp://u:%s@h:1/"},
	{"RETRY_EVENTS_URL", "kafka://u:%s@h:1,h2:2?topic=t"},
	{"ZEEBE_AUTHORIZATION_SERVER_URL", "https://u:%s@h/t"},
	{"ZEEBE_ADDRESS", "http://u:%s@h:1"},
	{"ZEEBE_ADDRESS", "https://%s@h/v2"},
	{"ZEEBE_GRPC_ADDRESS", "https://u:%s@h:1"},
	{"CAMUNDA_REST_ADDRESS", "https://u:%s@h/p"},
	{"CAMUNDA_REST_ADDRESS", "https://h/p?k=%s"},
	{"CAMUNDA_BASIC_AUTH_USERNAME", "u:%s"},
}

// pieces are all parts of a password, four bytes each, that stand nowhere else in a text about it.
func pieces(password, elsewhere string) (list []string) {
	for _, form := range []string{password, url.QueryEscape(password)} {
		for i := range max(len(form)-3, 0) {
			if piece := form[i : i+4]; !strings.Contains(elsewhere, piece) {
				list = append(list, piece)
			}
		}
	}
	return list
}

// shown is all that a configuration prints: its faults, or its settings and warnings.
func shown(t *testing.T, variables ...string) (text string, cfg config.Config, ok bool) {
	t.Helper()
	set(t, variables...)
	cfg, err := config.Load("")
	if err != nil {
		return strings.Join(faultsOf(err), "\n"), cfg, false
	}
	return fmt.Sprintf("%v %+v %s", cfg.Settings(), cfg, cfg.DatabaseURL), cfg, true
}

func TestNoPieceOfAHostilePasswordIsShown(t *testing.T) {
	for _, form := range urlForms {
		// What is printed about it with the harmless x for a password.
		harmless, _, _ := shown(t, form.setting+"="+fmt.Sprintf(form.form, "x@"))
		fine, _, _ := shown(t, form.setting+"="+fmt.Sprintf(form.form, "x"))
		for _, password := range hostile {
			value := fmt.Sprintf(form.form, password)
			var variables []string
			if !strings.Contains(value, "\x00") {
				variables = append(variables, form.setting+"="+value)
			}
			if strings.HasSuffix(form.setting, "_DATABASE_URL") || strings.HasSuffix(form.setting, "_EVENTS_URL") {
				variables = append(variables, form.setting+"_FILE="+file(t, value), form.setting+"_FILE="+value)
			}
			for _, variable := range variables {
				if strings.Contains(variable, "\x00") {
					continue
				}
				text, _, _ := shown(t, variable)
				for _, piece := range pieces(password, harmless+fine) {
					if strings.Contains(text, piece) {
						t.Errorf("%s: %q of the password %q shows in %s", form.form, piece, password, text)
						break
					}
				}
			}
		}
	}
}

func TestAHostilePasswordInACredentialsFileIsNotShownEither(t *testing.T) {
	shown := func(form, password string) string {
		set(t)
		cfg, err := config.Load(file(t, fmt.Sprintf(form, password)+"\n"))
		return fmt.Sprint(cfg.Settings(), cfg.Warnings, err)
	}
	for _, form := range []string{"export ZEEBE_CLIENT_SECRET='%s'", "%s", "ZEEBE_CLIENT_SECRET=%s", "export CAMUNDA_BASIC_AUTH_PASSWORD=\"%s\"", "ZEEBE_ADDRESS='u:%s@h:1'"} {
		harmless := shown(form, "x") + shown(form, "x'\"")
		for _, password := range hostile {
			text := shown(form, password)
			for _, piece := range pieces(password, harmless) {
				if strings.Contains(text, piece) {
					t.Errorf("%q of the password %q in %q shows in %s", piece, password, form, text)
				}
			}
		}
	}
}

// sameForTheDriver fails where the driver of PostgreSQL reads anything else of a URL than was written into it.
func sameForTheDriver(t *testing.T, cfg config.Config, user, password string, hosts ...string) {
	t.Helper()
	read, err := pgconn.ParseConfig(string(cfg.DatabaseURL))
	if err != nil {
		t.Errorf("the driver cannot read %q: %v", string(cfg.DatabaseURL), err)
		return
	}
	want, err := url.PathUnescape(password)
	check.Must(t, err)
	var dialled []string
	for _, at := range append([]*pgconn.FallbackConfig{{Host: read.Host, Port: read.Port}}, read.Fallbacks...) {
		dialled = append(dialled, net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port))))
	}
	if dialled = slices.Compact(dialled); !slices.Equal(dialled, hosts) || read.User != user || read.Password != want {
		t.Errorf("the driver reads %q as user %q, password %q, hosts %q", string(cfg.DatabaseURL), read.User, read.Password, dialled)
	}
}

func FuzzPasswordInURL(f *testing.F) {
	for _, password := range hostile {
		f.Add(password)
	}
	f.Fuzz(func(t *testing.T, password string) {
		if strings.Contains(password, "\x00") {
			return // no variable of the environment can hold it
		}
		text, cfg, ok := shown(t, "RETRY_AUDIT_KEY_FILE=k", "RETRY_DATABASE_URL=postgres://u:"+password+"@h1:1,h2:2/db")
		if !ok {
			if !strings.HasPrefix(text, "RETRY_DATABASE_URL: ") || strings.Contains(text, "\n") || len(text) > 400 {
				t.Errorf("the fault of %q is %s", password, text)
			}
			return
		}
		check.Same(t, "postgres://u:xxxxx@h1:1,h2:2/db", cfg.DatabaseURL.String(), "how %q is shown", password)
		if _, err := pgconn.ParseConfig(string(cfg.DatabaseURL)); err == nil { // what it refuses the store refuses, without the text
			sameForTheDriver(t, cfg, "u", password, "h1:1", "h2:2")
		}
	})
}

func TestOrdinaryConnectionURLsAreTaken(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // no files of the driver's
	for _, test := range []struct {
		url, user, password, shown string
		hosts                      []string
	}{
		{"postgres://u:p@h1:5432,h2:5432/db?target_session_attrs=read-write", "u", "p", "postgres://u:xxxxx@h1:5432,h2:5432/db", []string{"h1:5432", "h2:5432"}},
		{"postgres://u:p@/db?host=%2Fvar%2Frun&port=5433", "u", "p", "postgres://u:xxxxx@/db", []string{"/var/run:5433"}},
		{"postgres://u@[2001:db8::1]:5432/db", "u", "", "postgres://u@[2001:db8::1]:5432/db", []string{"[2001:db8::1]:5432"}},
		{"postgres://u%40corp:p%40%2F%3A%3F%23%25%20@db_1.example./d%2Fb", "u@corp", "p%40%2F%3A%3F%23%25%20", "postgres://u%40corp:xxxxx@db_1.example./d%2Fb", []string{"db_1.example.:5432"}},
		{"postgres://u:p@h/db?sslmode=disable&sslpassword=geheim", "u", "p", "postgres://u:xxxxx@h/db", []string{"h:5432"}},
	} {
		cfg := load(t, "RETRY_DATABASE_URL="+test.url, "RETRY_AUDIT_KEY_FILE=k")
		check.Same(t, test.shown, cfg.DatabaseURL.String(), "how %s is shown", test.url)
		sameForTheDriver(t, cfg, test.user, test.password, test.hosts...)
	}
	for _, events := range []string{
		"amqps://u:p%40@[::1]:1/hospital%2Fbilling?exchange=e&queue=q",
		"kafka+tls://u:p@h1:9093,h2:9093?sasl=plain&ca=/etc/ca.pem", "amqp://u:p@h",
	} {
		load(t, "RETRY_EVENTS_URL="+events)
	}
}
