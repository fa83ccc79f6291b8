package connurl_test

import (
	"fmt"
	"slices"
	"testing"

	"hospital.example/analyze-retry/internal/connurl"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestLoginIsDecodedAndNotShown(t *testing.T) {
	u, err := connurl.Parse("amqps://u%40corp:can%40ary1@h1:1,[::1]/a%2Fb?queue=q%25&keyPass=can")
	check.Must(t, err)
	user, password := u.Login()
	if user != "u@corp" || password != "can@ary1" || !slices.Equal(u.Hosts, []string{"h1:1", "[::1]"}) || u.Path != "/a%2Fb" || u.Query().Get("queue") != "q%" {
		t.Errorf("read as %q, %q, %q, %s, %q", user, password, u.Hosts, u.Path, u.Query())
	}
	check.Same(t, "amqps://u%40corp:***@h1:1,[::1]/a%2Fb?queue=q%25&keyPass=***", fmt.Sprintf("%v", u), "how it is shown")
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
