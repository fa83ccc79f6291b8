package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hospital.example/analyze-retry/internal/transport"
)

var _ transport.Definitions = (*Client)(nil)

// definitionSearch asks for the latest version of a process.
type definitionSearch struct {
	Filter struct {
		ProcessID string `json:"processDefinitionId"`
		Latest    bool   `json:"isLatestVersion"`
		TenantID  string `json:"tenantId,omitempty"`
	} `json:"filter"`
}

type definitions struct {
	Items []struct {
		Key     key   `json:"processDefinitionKey"`
		Version int32 `json:"version"`
	} `json:"items"`
}

// Definition implements [transport.Definitions]. Clusters before 8.8 have no such search.
func (c *Client) Definition(ctx context.Context, tenant, processID string) (transport.Definition, error) {
	var search definitionSearch
	search.Filter.ProcessID, search.Filter.Latest, search.Filter.TenantID = processID, true, tenant
	var found definitions
	err := c.send(ctx, http.MethodPost, "/process-definitions/search", search, func(r io.Reader) error {
		return json.NewDecoder(r).Decode(&found)
	})
	if err != nil {
		return transport.Definition{}, fmt.Errorf("search the process %s: %w", processID, err)
	}
	if len(found.Items) == 0 {
		return transport.Definition{}, status.Errorf(codes.NotFound, "the process %s is not there", processID)
	}
	d := transport.Definition{Version: found.Items[0].Version}
	path := "/process-definitions/" + strconv.FormatInt(int64(found.Items[0].Key), 10) + "/xml"
	err = c.do(ctx, http.MethodGet, path, content{}, func(r io.Reader) (err error) {
		d.XML, err = io.ReadAll(r)
		return err
	})
	if err != nil {
		return transport.Definition{}, fmt.Errorf("read the process %s: %w", processID, err)
	}
	return d, nil
}
