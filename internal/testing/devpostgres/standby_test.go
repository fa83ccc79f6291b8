package devpostgres

import (
	"strings"
	"testing"
)

func TestAPromotedStandbyHasEveryCommit(t *testing.T) {
	s := start(t)
	url, err := s.NewDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	standby, err := s.Standby(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := standby.Close(); err != nil {
			t.Error(err)
		}
	})
	conn := connect(t, url)
	run(t, conn, "CREATE TABLE claim (id text)")
	run(t, conn, "INSERT INTO claim VALUES ('committed')")
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn = connect(t, strings.Replace(url, s.Address(), standby.Address(), 1))
	run(t, conn, "INSERT INTO claim VALUES ('after')")
	if got := ask[string](t, conn, "SELECT string_agg(id, ',') FROM claim"); got != "committed,after" {
		t.Errorf("the promoted standby holds %q", got)
	}
}
