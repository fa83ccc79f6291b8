package connurl_test

import (
	"testing"

	"hospital.example/analyze-retry/internal/config/connurl"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestAnAtSignThatCanBeOfThePasswordIsRefused(t *testing.T) {
	const want = "is not scheme://user:password@host:port/path?name=value; " +
		"in user and password write @ as %40, / as %2F, ? as %3F, # as %23, % as %25, a blank as %20"
	for _, text := range []string{
		"postgres://u:can@ary1@h/db", "amqp://u:1234/canary1@h/", "kafka://u:1234?canary1@h", "http://u:1234#canary1@h", "kafka://h/?a=b@c",
		"postgres://u:can%ary1@h/db", "postgres://h/db?sslmode=a;password=canary1", "host=h password=canary1", "h:5432", "",
	} {
		if _, err := connurl.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	u, err := connurl.Parse("kafka://u%40corp:can%40ary1@h1:1,h2:2/a%2Fb?queue=q%25")
	check.Must(t, err)
	password, _ := u.User.Password()
	check.Same(t, []string{"u@corp", "can@ary1", "h1:1,h2:2", "/a/b", "q%"}, []string{u.User.Username(), password, u.Host, u.Path, u.Query().Get("queue")}, "parts")
}

func TestOnlyLoopbackHostsAreThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "::ffff:10.0.0.1": false, "128.0.0.1": false,
		"localhost.example": false, "127.0.0.1.example": false, "localhost:80": false, "[::1]": false,
	} {
		if got := connurl.IsLoopback(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
