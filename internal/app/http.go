package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"hospital.example/analyze-retry/internal/ops"
)

// httpGrace is how long a request to an HTTP server may take to finish when the worker stops: longer than a probe.
const httpGrace = time.Second

// listen binds the addresses of the HTTP servers.
func (a *App) listen(metrics prometheus.Gatherer) (err error) {
	a.http, err = ops.New(ops.Options{
		Address:         a.cfg.HTTPAddress,
		Token:           string(a.cfg.HTTPToken),
		CertificatePath: a.cfg.HTTPCertificate,
		KeyPath:         a.cfg.HTTPKey,
		Metrics:         metrics,
		Ready:           a.ready,
		Logger:          a.log,
	})
	if err != nil {
		return err
	}
	a.closeLater("close the HTTP server", a.http)
	if a.cfg.PprofAddress == "" {
		return nil
	}
	if a.profiles, err = ops.NewProfiles(a.cfg.PprofAddress, a.log); err != nil {
		return err
	}
	a.closeLater("close the HTTP server of the profiles", a.profiles)
	a.log.Info("profiles_served", zap.String("address", a.profiles.Addr()))
	return nil
}

func (a *App) closeLater(what string, server *ops.Server) {
	a.later(what, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), httpGrace)
		defer cancel()
		return server.Close(ctx)
	})
}

// serve answers requests until the servers are closed. Should the one for metrics and probes break before, the worker stops.
func (a *App) serve() error {
	var servers errgroup.Group
	servers.Go(func() error {
		defer a.stop()
		return a.http.Serve()
	})
	if a.profiles != nil {
		servers.Go(a.profiles.Serve)
	}
	return servers.Wait()
}
