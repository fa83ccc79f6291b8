package devbroker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// completionTimeout bounds the completion of a user task.
const completionTimeout = 15 * time.Second

// CompleteUserTask completes a Camunda user task over the REST API, as a task list does. gRPC has no call for that. The variables
// must encode as a JSON object; nil is none.
func (b *Broker) CompleteUserTask(ctx context.Context, key int64, variables map[string]any) error {
	if variables == nil {
		variables = map[string]any{}
	}
	body, err := json.Marshal(map[string]any{"variables": variables})
	if err != nil {
		return fmt.Errorf("complete user task %d: %w", key, err)
	}
	path := "v2"
	if strings.HasPrefix(b.at.Version, "8.5.") {
		path = "v1"
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	url := fmt.Sprintf("%s/%s/user-tasks/%d/completion", b.RESTURL(), path, key)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("complete user task %d: %w", key, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Close = true // as in monitoring
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("complete user task %d: %w", key, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		detail, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10)) // it only adds to the error
		return fmt.Errorf("complete user task %d: the broker answered %s: %s", key, response.Status, detail)
	}
	return nil
}
