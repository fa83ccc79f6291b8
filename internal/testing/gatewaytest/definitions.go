package gatewaytest

import (
	"net/http"
	"regexp"
	"slices"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
)

// definition is one version of a deployed process.
type definition struct {
	*pb.ProcessMetadata
	xml []byte
}

var processElement = regexp.MustCompile(`<(?:\w+:)?process\s[^>]*?id="([^"]+)"`)

// deploy deploys a resource as a process. Its id is that in the model, or else the resource's name. The caller holds the mutex.
func (g *Gateway) deploy(tenant string, r *pb.Resource) *pb.ProcessMetadata {
	p := &pb.ProcessMetadata{BpmnProcessId: r.Name, Version: 1, ResourceName: r.Name, TenantId: tenant}
	if id := processElement.FindSubmatch(r.Content); id != nil {
		p.BpmnProcessId = string(id[1])
	}
	for _, d := range g.definitions {
		if d.BpmnProcessId != p.BpmnProcessId || d.TenantId != tenant {
			continue
		}
		if p.Version = d.Version + 1; slices.Equal(d.xml, r.Content) {
			return d.ProcessMetadata
		}
	}
	p.ProcessDefinitionKey = g.newKey()
	g.definitions = append(g.definitions, definition{p, r.Content})
	return p
}

func (g *Gateway) restSearchDefinitions(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Filter struct{ ProcessDefinitionID, TenantID string }
		Sort   []struct{ Field, Order string }
		Page   struct{ Limit int }
	}
	if err := decode(r, &b); err != nil {
		writeProblem(w, r, http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	g.mu.Lock()
	found := slices.DeleteFunc(slices.Clone(g.definitions), func(d definition) bool {
		return d.BpmnProcessId != b.Filter.ProcessDefinitionID || b.Filter.TenantID != "" && d.TenantId != b.Filter.TenantID
	})
	g.mu.Unlock()
	slices.SortFunc(found, func(a, b definition) int { return int(b.Version - a.Version) }) // the one order that is asked for
	items := []values{}
	for _, d := range found[:min(len(found), b.Page.Limit)] {
		items = append(items, values{
			"processDefinitionKey": key(d.ProcessDefinitionKey), "processDefinitionId": d.BpmnProcessId, "version": d.Version,
			"resourceName": d.ResourceName, "tenantId": d.TenantId, "name": nil, "versionTag": nil, "hasStartForm": false,
		})
	}
	writeJSON(w, http.StatusOK, "application/json", values{"items": items, "page": values{"totalItems": len(found)}})
}

func (g *Gateway) restDefinitionXML(w http.ResponseWriter, r *http.Request) {
	key, _ := jobKey(r)
	g.mu.Lock()
	i := slices.IndexFunc(g.definitions, func(d definition) bool { return d.ProcessDefinitionKey == key })
	var xml []byte
	if i >= 0 {
		xml = g.definitions[i].xml
	}
	g.mu.Unlock()
	if i < 0 {
		writeProblem(w, r, http.StatusNotFound, "NOT_FOUND", "Process Definition with key '"+r.PathValue("key")+"' not found")
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	_, _ = w.Write(xml)
}
