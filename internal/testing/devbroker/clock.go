package devbroker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// offsetFile keeps by how much the clock was moved, in milliseconds. The broker itself forgets it when it restarts, and
// timers that had been near would be hours away again.
const offsetFile = "clock-offset"

// monitoringTimeout bounds one request to the broker's monitoring port.
const monitoringTimeout = 10 * time.Second

// Now returns the time on the broker's clock.
func (b *Broker) Now(ctx context.Context) (time.Time, error) {
	return b.clock(ctx, http.MethodGet, "/actuator/clock", nil)
}

// Advance moves the broker's clock forward by d (whole milliseconds, more than 0) and returns the time it shows then.
// Timers that fall due fire at once. Open long polls and calls that await a result run into their timeouts: repeat
// them. The move outlives a restart.
func (b *Broker) Advance(ctx context.Context, d time.Duration) (time.Time, error) {
	if d < time.Millisecond {
		return time.Time{}, fmt.Errorf("move the clock by %s: it goes forward only, by a millisecond or more", d)
	}
	offset, err := b.offset()
	if err != nil {
		return time.Time{}, err
	}
	now, err := b.addOffset(ctx, d)
	if err != nil {
		return time.Time{}, err
	}
	total := strconv.FormatInt((offset + d).Milliseconds(), 10)
	if err := os.WriteFile(filepath.Join(b.at.Dir, offsetFile), []byte(total), 0o644); err != nil {
		return time.Time{}, fmt.Errorf("remember the clock's offset: %w", err)
	}
	return now, nil
}

// ResetClock sets the broker's clock to the host's again. What the broker has stored keeps its times, so nothing should be waiting.
func (b *Broker) ResetClock(ctx context.Context) error {
	if _, err := b.clock(ctx, http.MethodDelete, "/actuator/clock", nil); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(b.at.Dir, offsetFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the clock's offset: %w", err)
	}
	return nil
}

// restoreClock moves the clock of a broker that has just started to where it was before.
func (b *Broker) restoreClock(ctx context.Context) error {
	offset, err := b.offset()
	if err != nil || offset == 0 {
		return err
	}
	_, err = b.addOffset(ctx, offset)
	return err
}

func (b *Broker) offset() (time.Duration, error) {
	raw, err := os.ReadFile(filepath.Join(b.at.Dir, offsetFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the clock's offset: %w", err)
	}
	millis, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the clock's offset: %w", err)
	}
	return time.Duration(millis) * time.Millisecond, nil
}

func (b *Broker) addOffset(ctx context.Context, d time.Duration) (time.Time, error) {
	body := fmt.Sprintf(`{"offsetMilli":%d}`, d.Milliseconds())
	return b.clock(ctx, http.MethodPost, "/actuator/clock/add", []byte(body))
}

func (b *Broker) clock(ctx context.Context, method, path string, body []byte) (time.Time, error) {
	answer, err := b.monitoring(ctx, method, path, body)
	if err != nil {
		return time.Time{}, err
	}
	var clock struct {
		EpochMilli int64 `json:"epochMilli"`
	}
	if err := json.Unmarshal(answer, &clock); err != nil {
		return time.Time{}, fmt.Errorf("read the broker's clock: %w", err)
	}
	return time.UnixMilli(clock.EpochMilli).UTC(), nil
}

// monitoring sends one request to the broker's monitoring port and returns the body of the answer.
func (b *Broker) monitoring(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, monitoringTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, b.MonitoringURL()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	// A connection that is kept would outlive the broker, and with it the goroutines that serve it.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("call the broker: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the broker's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: the broker answered %s", method, path, response.Status)
	}
	return answer, nil
}
