package zeebe

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hospital.example/analyze-retry/internal/testing/gatewaytest"
)

// outage is how a token server fails.
type outage func(w http.ResponseWriter, r *http.Request) error

// server is a token server that can be down, refuse or be slow, and counts how often it is asked.
type server struct {
	mu    sync.Mutex
	asked []time.Time
	fault outage        // nil where it answers as it should
	life  time.Duration // of its tokens
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, time.Now())
	n, fail, life := int64(len(s.asked)), s.fault, s.life
	s.mu.Unlock()
	w := httptest.NewRecorder()
	if fail == nil {
		issue(w, n, life)
	} else if err := fail(w, r); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// set changes how it answers from now on.
func (s *server) set(f outage, life time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.life = f, life
}

// times is how often it was asked.
func (s *server) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// busiest is how often the server was asked in the second in which it was asked most.
func (s *server) busiest() (most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, from := range s.asked {
		n := 0
		for _, at := range s.asked[i:] {
			if at.Sub(from) < time.Second {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func replies(code int, body string) outage {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, err := w.Write([]byte(body))
		return err
	}
}

func TestAnOutageOfTheTokenServer(t *testing.T) {
	for name, test := range map[string]struct {
		fault outage
		says  string        // in the line of the log
		hang  time.Duration // how long a request that was sent before its end goes on
	}{
		"it is down":        {func(http.ResponseWriter, *http.Request) error { return errors.New("connection refused") }, "cannot be reached: connection refused", 0},
		"it refuses":        {replies(http.StatusUnauthorized, `{"error":"invalid_client"}`), "answered 401, invalid_client", 0},
		"it is overrun":     {replies(http.StatusTooManyRequests, `busy`), "answered 429", 0},
		"it talks nonsense": {replies(http.StatusOK, `<html>`), "is no token", 0},
		"it does not answer": {func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return r.Context().Err()
		}, "the authorization server has not answered yet", tokenTimeout},
	} {
		for when, life := range map[string]time.Duration{"from the start": 0, "when the token has run out": 30 * time.Second} {
			t.Run(name+" "+when, func(t *testing.T) {
				inBubble(t, func(r *rig) {
					s := &server{life: max(life, time.Second)}
					if life == 0 {
						s.fault = test.fault
					}
					r.connectWithTokensOf(s)
					r.run(Options{MaxJobsActive: 10})
					if life > 0 { // it worked at first
						r.add(1)
						r.advance(life / 2)
						r.wantCounts(gatewaytest.Counts{Completed: 1})
						s.set(test.fault, life)
					}
					r.advance(5 * time.Minute)
					if got := s.busiest(); got > 1 {
						r.Errorf("asked %d times in a second", got)
					}
					if n := s.times(); n < 30 {
						r.Errorf("asked only %d times in five minutes", n)
					}
					if log := logText(r); strings.Count(log, "gateway_lost") != 1 || !strings.Contains(log, test.says) {
						r.Errorf("want one line with %q, have:\n%s", test.says, log)
					}
					r.wantNowhere(secret)
					s.set(nil, time.Hour)
					r.add(3)
					r.advance(test.hang + 5*time.Second)
					if got := r.gateway.Counts().Completed; got < 3 {
						r.Errorf("%d jobs are done five seconds after", got)
					}
					_, _ = r.end()
				})
			})
		}
	}
}

func TestASlowTokenServerIsWaitedForAndAskedOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		s := &server{}
		s.fault = func(w http.ResponseWriter, _ *http.Request) error {
			<-time.After(tokenTimeout - time.Second)
			issue(w, 1, time.Hour)
			return nil
		}
		r.connectWithTokensOf(s)
		r.add(1)
		r.run(Options{MaxJobsActive: 10})
		r.advance(tokenTimeout + pollPauseMax)
		r.wantCounts(gatewaytest.Counts{Completed: 1})
		if n := s.times(); n != 1 {
			r.Errorf("asked %d times", n)
		}
		_, _ = r.end()
	})
}
