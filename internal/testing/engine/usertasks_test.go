package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
)

// reviewed returns the engine with a form, and a process with a user task under way.
func reviewed(t *testing.T, forms ...string) *world {
	t.Helper()
	w := deploy(t, review)
	for _, content := range forms {
		do[*pb.DeployResourceResponse](w, &pb.DeployResourceRequest{
			Resources: []*pb.Resource{{Name: "review.form", Content: []byte(content)}},
		})
	}
	w.start(`{}`)
	return w
}

func TestAUserTaskIsCompletedLikeAJob(t *testing.T) {
	w := reviewed(t, `{"id":"review"}`, `{"id":"review","new":true}`)
	task := w.last("USER_TASK", "CREATED")
	check.Same(t, []string{"billing", "audit"}, task.Value["candidateGroupsList"].([]string), "groups")
	check.Same(t, w.forms[1].key, task.Value["formKey"].(int64), "the newest form")
	_, err := w.Do(w.clock, &CompleteUserTask{Key: task.Key, Variables: `{"decision":"RESUBMIT"}`})
	check.Must(t, err)
	w.ended("E")
	w.variable("P", "decision", `"RESUBMIT"`)
	w.refuses(&CompleteUserTask{Key: task.Key}, codes.NotFound, "no such user task")
}

func TestAUserTaskIsCanceledByItsBoundaryEventAndWithItsProcess(t *testing.T) {
	w := reviewed(t, `{"id":"review"}`)
	w.passes(time.Hour)
	w.ended("Late")
	w.refuses(&CompleteUserTask{Key: w.last("USER_TASK", "CANCELED").Key}, codes.NotFound, "no such user task")
	do[*pb.CancelProcessInstanceResponse](w, &pb.CancelProcessInstanceRequest{ProcessInstanceKey: w.start(`{}`)})
	check.Same(t, 2, len(w.find("USER_TASK", "CANCELED")), "tasks cancelled")
	check.Same(t, 0, len(w.userTasks)+len(w.find("JOB", "CREATED")), "user tasks, and jobs for them")
}

func TestAUserTaskNeedsItsForm(t *testing.T) {
	w := reviewed(t)
	incident := w.incident("FORM_NOT_FOUND", "U")
	do[*pb.DeployResourceResponse](
		w,
		&pb.DeployResourceRequest{Resources: []*pb.Resource{{Name: "f.form", Content: []byte(`{"id":"review"}`)}}},
	)
	w.resolves(incident)
	check.Same(t, 1, len(w.userTasks), "user tasks")
}

func TestTheGroupsOfAUserTaskAreAListOfTexts(t *testing.T) {
	for expression, want := range map[string][]string{
		`user =[group]`: {"billing"}, `user =group`: nil, `user =[1]`: nil, `user =missing`: nil, `person =[1]`: nil,
	} {
		kind, groups, _ := strings.Cut(expression, " ")
		w := deploy(t, `
			S: start
			U: `+kind+` group='`+groups+`'
			S > U`)
		w.start(`{"group":"billing"}`)
		if want == nil {
			w.incident("EXTRACT_VALUE_ERROR", "U")
			check.Same(t, 0, len(w.find("JOB", "CREATED")), "jobs")
		} else if got := w.last("USER_TASK", "CREATED").Value["candidateGroupsList"].([]string); !slices.Equal(got, want) {
			t.Errorf("%s gives %v", expression, got)
		}
	}
}

func TestAUserTaskOfTheOldKindIsAJob(t *testing.T) {
	w := deploy(t, `
		S: start
		U: person group='=[group]'
		E: end
		S > U
		U > E`)
	w.start(`{"group":"billing"}`)
	j := w.job("io.camunda.zeebe:userTask")
	check.Same(t, `{"io.camunda.zeebe:candidateGroups":"[\"billing\"]"}`, j.CustomHeaders, "headers")
	do[*pb.CompleteJobResponse](w, &pb.CompleteJobRequest{JobKey: j.Key})
	w.ended("E")
}
