package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"hospital.example/analyze-retry/internal/config"
	"hospital.example/analyze-retry/internal/testing/cluster"
	"hospital.example/analyze-retry/internal/testing/process"
)

// demoOptions are the flags of `demo`.
type demoOptions struct {
	dir, claims string
	models      []string
}

func newDemo(dir *string) *cobra.Command {
	var o demoOptions
	command := &cobra.Command{
		Use:   "demo",
		Short: "Play sample claims on an engine of this project with the worker",
		Long: `Starts an engine of this project and the worker, brings each claim of a file to its
end, and shows what happened to it. The insurer and the people are played by the
demo, from the file; the engine's clock is moved through the waits. At the end both
are stopped. What the worker decided stays in a store until the next demo, to be
asked.

With --model the claims are played on models of your own, which may call the
bundled ones: a task with a boundary event for errors gets the claim's next answer,
any other job that is not the worker's is completed, a user task gets the next
decision. Ends are not compared.

Exit codes: 0 all claims went as the file says, 1 one did not or the demo broke
off, 2 wrong arguments or a faulty file, 130 interrupted.`,
		Example: "  sandbox demo\n  sandbox demo --model my.bpmn,my-task.form --claims my-claims.yaml",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.dir = filepath.Join(*dir, "demo")
			return o.play(command.Context(), command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.claims, "claims", "examples/claims.yaml", "the file with the claims")
	flags.StringSliceVar(&o.models, "model", nil, "your own models and forms, instead of the bundled ones")
	return command
}

// play plays the claims and prints the result to out; how far it is goes to progress.
func (o demoOptions) play(ctx context.Context, out, progress io.Writer) error {
	script, claimsErr := readClaims(o.claims)
	types, typesErr := analyses()
	played, modelsErr := readModels(o.models, types)
	if err := errors.Join(claimsErr, typesErr, modelsErr); err != nil {
		return err
	}
	started := time.Now()
	w, p, err := o.perform(ctx, script, played, progress)
	if err != nil {
		return err
	}
	people, err := config.ForPeople()
	if err != nil {
		return err
	}
	today := time.Now().In(people.TZ.Location).Format(time.DateOnly) // days of the report begin in that zone
	summary := p.summary(o.claims, time.Since(started))
	longest := slices.MaxFunc(p.claims, func(a, b *claim) int { return len(a.tries) - len(b.tries) })
	fmt.Fprintf(out, "\n%s\n%s\nAsk the store that the worker has left behind:\n\n%s\n%s\n%s\n", p.table(), summary,
		w.ask("history "+longest.Claim), w.ask("claims"), w.ask("report --from "+today))
	for _, c := range p.claims {
		if len(p.faults(c)) > 0 {
			return fmt.Errorf("the claim %s did not go as %s says", c.Claim, o.claims)
		}
	}
	return nil
}

// perform plays the claims on an engine and a worker, and stops both.
func (o demoOptions) perform(ctx context.Context, script []scripted, m models, progress io.Writer) (w worker, p *play, err error) {
	if err := errors.Join(os.RemoveAll(o.dir), os.MkdirAll(o.dir, 0o750)); err != nil {
		return w, nil, fmt.Errorf("forget the last demo: %w", err)
	}
	c, err := cluster.Start(cluster.Options{})
	if err != nil {
		return w, nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if w, err = newWorker(c.Address(), o.dir); err != nil {
		return w, nil, err
	}
	if err := w.deploy(ctx); err != nil {
		return w, nil, err
	}
	if m.own {
		if err := w.deploy(ctx, o.models...); err != nil {
			return w, nil, badInput{err}
		}
	}
	address, err := process.FreeAddress()
	if err != nil {
		return w, nil, err
	}
	fmt.Fprintf(progress, "starting the worker on the engine, its log is %s\n", w.log())
	running, err := w.run(ctx, address)
	if err != nil {
		return w, nil, err
	}
	defer func() {
		_, stopped := running.Stop(context.WithoutCancel(ctx), stopGrace)
		err = errors.Join(err, stopped)
	}()
	conn, err := grpc.NewClient(c.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return w, nil, err
	}
	defer conn.Close()
	fmt.Fprintf(progress, "playing the %d claims of %s on %s ...\n", len(script), o.claims, m.process)
	p = &play{cluster: c, gateway: pb.NewGatewayClient(conn), models: m}
	err = p.run(ctx, script, running.Alive)
	if err != nil {
		err = fmt.Errorf("the demo broke off: %w (the worker's log is %s)", err, w.log())
	}
	return w, p, err
}
