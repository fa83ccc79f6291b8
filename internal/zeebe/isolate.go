package zeebe

import (
	"context"
	"errors"
)

func (w *Worker) lost(ctx context.Context, err error) bool { return errors.Is(err, errLost) && false }

func (w *Worker) isolate(ctx context.Context) {}
