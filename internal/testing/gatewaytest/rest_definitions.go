package gatewaytest

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// restSearch finds the only version of a process.
func (g *Gateway) restSearch(w http.ResponseWriter, r *http.Request) {
	var search struct {
		Filter struct {
			ProcessID string `json:"processDefinitionId"`
			Latest    bool   `json:"isLatestVersion"`
			TenantID  string `json:"tenantId"`
		} `json:"filter"`
	}
	if err := json.NewDecoder(r.Body).Decode(&search); err != nil || !search.Filter.Latest {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", "no filter for the latest version")
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	items := []any{}
	if d, is := g.deployed[search.Filter.ProcessID]; is {
		items = append(items, map[string]any{
			"processDefinitionKey": strconv.FormatInt(d.key, 10), "version": 1, "processDefinitionId": search.Filter.ProcessID,
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items, "page": map[string]any{"totalItems": len(items)}})
}

// restXML answers with the model of a process.
func (g *Gateway) restXML(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range g.deployed {
		if strconv.FormatInt(d.key, 10) == r.PathValue("key") {
			w.Header().Set("Content-Type", "text/xml")
			_, _ = w.Write(d.xml)
			return
		}
	}
	writeProblem(w, r, http.StatusNotFound, "NOT_FOUND", "no process definition with key "+r.PathValue("key"))
}
