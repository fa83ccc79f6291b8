package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Definition is one version of a process.
type Definition struct {
	Version int32
	XML     []byte
}

type definitionsFound struct {
	Items []struct {
		Key     string `json:"processDefinitionKey"`
		Version int32  `json:"version"`
		State   string `json:"state"` // since 8.10
	} `json:"items"`
}

// deletedInARow is how many versions are looked through for one that is not deleted.
const deletedInARow = 50

// Definition returns the latest version of a process. Its error has the code NotFound where there is none that the credentials
// may read. It needs 8.8, from which on the cluster keeps what is deployed in a database. That may be some seconds behind.
func (c *Client) Definition(ctx context.Context, tenant, processID string) (d Definition, err error) {
	filter := map[string]string{"processDefinitionId": processID}
	if tenant != "" {
		filter["tenantId"] = tenant
	}
	search := map[string]any{
		"filter": filter,
		"sort":   []map[string]string{{"field": "version", "order": "DESC"}},
		"page":   map[string]int{"limit": deletedInARow},
	}
	var found definitionsFound
	read := decode(&found, func() bool { return found.Items != nil })
	if err := c.send(ctx, http.MethodPost, "/process-definitions/search", search, read); err != nil {
		return d, fmt.Errorf("search for the process %s: %w", processID, err)
	}
	for _, item := range found.Items {
		if item.State == "DELETED" {
			continue
		}
		d.Version = item.Version
		path := "/process-definitions/" + strconv.FormatInt(number(item.Key), 10) + "/xml"
		err := c.do(ctx, http.MethodGet, path, content{accept: "text/xml"}, func(r io.Reader) (err error) {
			d.XML, err = io.ReadAll(r)
			return err
		})
		if err != nil {
			return d, fmt.Errorf("read version %d of the process %s: %w", item.Version, processID, err)
		}
		return d, nil
	}
	return d, status.Errorf(codes.NotFound, "there is no process %s that these credentials may read", processID)
}
