package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/ops"
)

// httpGrace is how long a request to the HTTP server may take to finish when the worker stops: longer than a probe.
const httpGrace = time.Second

// listen binds the address of the HTTP server.
func (a *App) listen(metrics prometheus.Gatherer) (err error) {
	o := httpOptions(a.cfg)
	o.Metrics, o.Ready, o.Logger = metrics, a.ready, a.log
	a.http, err = ops.New(o)
	if err != nil {
		return err
	}
	a.later("close the HTTP server", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), httpGrace)
		defer cancel()
		return a.http.Close(ctx)
	})
	return nil
}

func httpOptions(cfg config.Config) ops.Options {
	return ops.Options{
		Address:         cfg.HTTP.Address,
		Token:           string(cfg.HTTP.Token),
		CertificatePath: cfg.HTTP.TLSCertificatePath,
		KeyPath:         cfg.HTTP.TLSKeyPath,
	}
}

// AskReady asks the worker that runs with these settings on this host whether it is ready.
func AskReady(ctx context.Context, cfg config.Config) error { return ops.Ask(ctx, httpOptions(cfg)) }

// serve answers requests until the server is closed. Should it break before, the worker stops.
func (a *App) serve() error {
	defer a.stop()
	return a.http.Serve()
}
