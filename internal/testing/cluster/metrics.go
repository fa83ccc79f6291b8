package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are the samples that a cluster exposed at one moment.
type Metrics model.Vector

// Metrics reads the cluster's own metrics.
func (c *Cluster) Metrics(ctx context.Context) (Metrics, error) {
	text, err := c.call(ctx, http.MethodGet, c.MonitoringURL()+"/actuator/prometheus", nil, http.StatusOK)
	if err != nil {
		return nil, err
	}
	return parseMetrics(text)
}

func parseMetrics(text []byte) (Metrics, error) {
	decoder := expfmt.SampleDecoder{
		Dec:  expfmt.NewDecoder(bytes.NewReader(text), expfmt.NewFormat(expfmt.TypeTextPlain)),
		Opts: &expfmt.DecodeOptions{Timestamp: model.Now()},
	}
	var all Metrics
	for {
		var family model.Vector
		err := decoder.Decode(&family)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the cluster's metrics: %w", err)
		}
		all = append(all, family...)
	}
}

// Sum adds up the samples of a metric that carry all the given labels; 0 where there is none. A counter that has not
// counted yet is often not there at all, e.g.
//
//	m.Sum("zeebe_job_events_total", map[string]string{"type": "analyze-retry", "action": "completed"})
func (m Metrics) Sum(name string, labels map[string]string) float64 {
	total := 0.0
	for _, sample := range m {
		if string(sample.Metric[model.MetricNameLabel]) == name && carries(sample.Metric, labels) {
			total += float64(sample.Value)
		}
	}
	return total
}

func carries(metric model.Metric, labels map[string]string) bool {
	for name, value := range labels {
		if string(metric[model.LabelName(name)]) != value {
			return false
		}
	}
	return true
}
