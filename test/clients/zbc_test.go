//go:build clients

package clients

import (
	"context"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/entities"
	"github.com/camunda/zeebe/clients/go/v8/pkg/worker"
	"github.com/camunda/zeebe/clients/go/v8/pkg/zbc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestGoClientPlaysTheScenario(t *testing.T) {
	t.Parallel()
	c := start(t)
	client, err := zbc.NewClient(&zbc.ClientConfig{GatewayAddress: c.Address(), UsePlaintextConnection: true})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p := &player{t: t, client: client}
	worked := make(chan entities.Job)
	w := client.NewJobWorker().JobType("pack-order").Handler(func(_ worker.JobClient, j entities.Job) {
		p.pack(j)
		worked <- j
	}).Name("packer").RequestTimeout(time.Second).Open()
	defer w.Close()
	p.worked = worked

	p.step("topology", func(ctx context.Context) (any, error) {
		r, err := client.NewTopologyCommand().Send(ctx)
		return map[string]any{
			"brokers": len(r.GetBrokers()), "partitions": r.GetPartitionsCount(), "version": r.GetGatewayVersion(),
		}, err
	})
	p.step("deploy", func(ctx context.Context) (any, error) {
		r, err := client.NewDeployResourceCommand().AddResourceFile("order.bpmn").Send(ctx)
		if err != nil {
			return nil, err
		}
		deployed := r.Deployments[0].GetProcess()
		return map[string]any{"process": deployed.BpmnProcessId, "version": deployed.Version}, nil
	})
	p.step("deploy no model", func(ctx context.Context) (any, error) {
		return client.NewDeployResourceCommand().AddResource([]byte("no model"), "order.bpmn").Send(ctx)
	})
	p.create("create unknown", "unknown", `{}`)

	p.create("create a", "order", `{"order": "a", "text": "1 < 2 & ü"}`)
	packed := p.work("work a")
	p.step("complete again", func(ctx context.Context) (any, error) {
		return client.NewCompleteJobCommand().JobKey(packed.Key).Send(ctx)
	})
	p.step("update timeout", func(ctx context.Context) (any, error) {
		return client.NewUpdateJobTimeoutCommand().JobKey(packed.Key).Timeout(60_000).Send(ctx)
	})
	for _, name := range []string{"publish", "publish again"} {
		p.step(name, func(ctx context.Context) (any, error) {
			m, err := client.NewPublishMessageCommand().MessageName("paid").CorrelationKey("a").MessageId("1").
				TimeToLive(time.Minute).VariablesFromString(`{"amount": 1200}`)
			if err != nil {
				return nil, err
			}
			_, err = m.Send(ctx)
			return nil, err
		})
	}

	p.create("create b", "order", `{"order": "b"}`)
	torn := p.work("work b")
	p.step("throw again", func(ctx context.Context) (any, error) {
		return client.NewThrowErrorCommand().JobKey(torn.Key).ErrorCode("TORN").Send(ctx)
	})

	instance := p.create("create c", "order", `{"order": "c"}`)
	failed := p.work("work c")
	incident, err := keyOf(t.Context(), c, "INCIDENT", "CREATED", instance)
	if err != nil {
		t.Fatal(err)
	}
	resolve := func(ctx context.Context) (any, error) {
		_, err := client.NewResolveIncidentCommand().IncidentKey(incident).Send(ctx)
		return nil, err
	}
	p.step("complete failed", func(ctx context.Context) (any, error) {
		return client.NewCompleteJobCommand().JobKey(failed.Key).Send(ctx)
	})
	p.step("resolve without retries", resolve)
	p.set("set variables", instance)
	p.step("update retries", func(ctx context.Context) (any, error) {
		_, err := client.NewUpdateJobRetriesCommand().JobKey(failed.Key).Retries(2).Send(ctx)
		return nil, err
	})
	p.step("resolve", resolve)
	p.work("work c again")
	p.step("resolve again", resolve)
	for _, name := range []string{"cancel", "cancel again"} {
		p.step(name, func(ctx context.Context) (any, error) {
			_, err := client.NewCancelInstanceCommand().ProcessInstanceKey(instance).Send(ctx)
			return nil, err
		})
	}
	p.set("set variables of none", instance)

	check(t, c, p.reports, map[string]string{
		codes.NotFound.String():           "NOT_FOUND",
		codes.AlreadyExists.String():      "ALREADY_EXISTS",
		codes.InvalidArgument.String():    "INVALID_ARGUMENT",
		codes.FailedPrecondition.String(): "INVALID_STATE",
	})
}

// player plays steps of the scenario with the Go client.
type player struct {
	t       *testing.T
	client  zbc.Client
	worked  <-chan entities.Job
	reports []report
}

func (p *player) step(name string, do func(context.Context) (result any, err error)) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	result, err := do(ctx)
	if err != nil {
		p.reports = append(p.reports, report{Step: name, Error: status.Code(err).String()})
		return
	}
	p.reports = append(p.reports, report{Step: name, Result: result})
}

func (p *player) create(name, process, variables string) (key int64) {
	p.step(name, func(ctx context.Context) (any, error) {
		command, err := p.client.NewCreateInstanceCommand().BPMNProcessId(process).LatestVersion().
			VariablesFromString(variables)
		if err != nil {
			return nil, err
		}
		r, err := command.Send(ctx)
		key = r.GetProcessInstanceKey()
		return map[string]any{"process": r.GetBpmnProcessId(), "version": r.GetVersion()}, err
	})
	return key
}

func (p *player) set(name string, instance int64) {
	p.step(name, func(ctx context.Context) (any, error) {
		command, err := p.client.NewSetVariablesCommand().ElementInstanceKey(instance).
			VariablesFromString(`{"box": {"size": 12}}`)
		if err != nil {
			return nil, err
		}
		_, err = command.Send(ctx)
		return nil, err
	})
}

// pack answers a job: b is torn, c fails at its first try.
func (p *player) pack(j entities.Job) {
	ctx := p.t.Context()
	variables, err := j.GetVariablesAsMap()
	if err != nil {
		p.t.Error(err)
	}
	switch order := variables["order"]; {
	case order == "b":
		_, err = p.client.NewThrowErrorCommand().JobKey(j.Key).ErrorCode("TORN").Send(ctx)
	case order == "c" && j.Retries == 1:
		_, err = p.client.NewFailJobCommand().JobKey(j.Key).Retries(0).ErrorMessage("no box").Send(ctx)
	default:
		complete, wrong := p.client.NewCompleteJobCommand().JobKey(j.Key).VariablesFromString(`{"weight": 3.5}`)
		if err = wrong; err == nil {
			_, err = complete.Send(ctx)
		}
	}
	if err != nil {
		p.t.Error(err)
	}
}

// work reports the next job that the worker has answered.
func (p *player) work(name string) (j entities.Job) {
	p.step(name, func(ctx context.Context) (any, error) {
		select {
		case j = <-p.worked:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		headers, err := j.GetCustomHeadersAsMap()
		if err != nil {
			return nil, err
		}
		variables, err := j.GetVariablesAsMap()
		return map[string]any{
			"type": j.Type, "process": j.BpmnProcessId, "element": j.ElementId, "worker": j.Worker, "headers": headers,
			"retries": j.Retries, "variables": variables,
		}, err
	})
	return j
}
