package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/jackc/pgx/v5"

	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

// emptyFile is the store of one run of the first worker, which has no past.
func (b *bench) emptyFile(context.Context) ([]string, error) {
	return []string{firstStore + "=file:" + b.path("decisions.db") + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"}, nil
}

// emptyDatabase is the same on the server.
func (b *bench) emptyDatabase(ctx context.Context) ([]string, error) {
	url, err := b.server.NewDatabase(ctx)
	return []string{firstStore + "=" + url}, err
}

// files returns what copies, for each run, the file in which a worker has recorded the past.
func (b *bench) files(argv []string) func(context.Context) ([]string, error) {
	past := b.path("past.db")
	fill := sync.OnceValue(func() error { return b.fill(argv, settings(b.key, "sqlite://"+past)) })
	return func(context.Context) ([]string, error) {
		path := past + ".copy"
		return settings(b.key, "sqlite://"+path), errors.Join(fill(), copyFile(past, path))
	}
}

// databases is the same on the server.
func (b *bench) databases(argv []string) func(context.Context) ([]string, error) {
	past := sync.OnceValues(func() (url string, err error) {
		if url, err = b.server.NewDatabase(context.Background()); err == nil {
			err = b.fill(argv, settings(b.key, url))
		}
		return url, err
	})
	return func(ctx context.Context) ([]string, error) {
		like, err := past()
		if err != nil {
			return nil, err
		}
		url, err := b.copyDatabase(ctx, like)
		return settings(b.key, url), err
	}
}

// copyDatabase copies a database to which no process is connected, and returns the URL of the copy.
func (b *bench) copyDatabase(ctx context.Context, like string) (string, error) {
	config, err := pgx.ParseConfig(like)
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, b.server.URL("postgres", devpostgres.Superuser))
	if err != nil {
		return "", err
	}
	name := config.Database + "_copy"
	_, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name)
	if err == nil {
		_, err = conn.Exec(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, config.Database))
	}
	if err == nil {
		_, err = conn.Exec(ctx, "CHECKPOINT") // or the server writes the copy while the worker is measured
	}
	return b.server.URL(name, devpostgres.Superuser), errors.Join(err, conn.Close(ctx))
}

func settings(key, url string) []string {
	return []string{"RETRY_DATABASE_URL=" + url, "RETRY_AUDIT_KEY_FILE=" + key}
}

// path is one that nothing has yet.
func (b *bench) path(name string) string {
	b.paths++
	return filepath.Join(b.dir, fmt.Sprintf("%d-%s", b.paths, name))
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close())
}
