package e2e

// userTask is a Camunda user task, which the test completes in the place of a person.
type userTask struct {
	claim     *claim
	key       int64
	form      int64 // 0 where the task has no form
	element   string
	groups    []string
	variables vars
}

// asks takes the claim's next user task, which waits for a person.
func (c *claim) asks(element string) *userTask {
	c.Helper()
	e := c.await("a user task", "USER_TASK", "CREATED", func(e event) bool {
		return e.Position > c.asked && c.has(e.ProcessInstanceKey)
	})
	c.asked = e.Position
	if e.ElementID != element {
		c.Fatalf("a person is asked to do %s, want %s", e.ElementID, element)
	}
	return &userTask{claim: c, key: e.Key, form: e.FormKey, element: e.ElementID, groups: e.CandidateGroupsList, variables: c.variablesOf(e.ProcessInstanceKey)}
}

// complete finishes the task.
func (t *userTask) complete(result vars) {
	t.claim.Helper()
	t.claim.must(t.claim.broker.CompleteUserTask(t.claim.Context(), t.key, result))
}

// holds fails the test where the process has other variables than these when the task is created.
func (t *userTask) holds(want vars) *userTask {
	t.claim.Helper()
	t.variables.hold(t.claim.T, want)
	return t
}

// isTakenBack fails the test where the task has not ended without a person.
func (t *userTask) isTakenBack() {
	t.claim.Helper()
	if n := len(t.claim.events("USER_TASK", "CANCELED", func(e event) bool { return e.Key == t.key })); n != 1 {
		t.claim.Errorf("the person's task was taken back %d times, want once", n)
	}
}
