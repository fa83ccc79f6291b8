package cli

import (
	"context"
	"time"

	"hospital.example/analyze-retry/internal/app"
	"hospital.example/analyze-retry/internal/config"
)

// patience is how long a call may take after its context has ended.
const patience = 2 * time.Second

// bounded calls do, which may hang on a file, and gives up patience after ctx has ended: a hung file system ignores contexts,
// and the first signal must end a start. The call itself goes on until the process ends, which is at once.
func bounded[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(patience):
		return *new(T), ctx.Err()
	}
}

// loadConfig reads the configuration and the files that it names for secrets.
func loadConfig(ctx context.Context) (config.Config, error) {
	return bounded(ctx, func() (config.Config, error) { return config.Load(config.Process()) })
}

// loadAll does so, and tries the policies that the configuration names.
func loadAll(ctx context.Context) (config.Config, error) {
	return bounded(ctx, func() (config.Config, error) { return app.LoadConfig(config.Process()) })
}
