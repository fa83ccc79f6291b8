package engine

import (
	"strings"
	"testing"

	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"google.golang.org/grpc/codes"

	"hospital.example/analyze-retry/internal/testing/check"
)

func TestTheNearestVariableWins(t *testing.T) {
	for fetch, want := range map[string]string{"": `{"near":0,"own":0,"y":1}`, "near": `{"near":0}`} {
		w := deploy(t, inASub)
		w.start(`{"near":9,"y":1}`)
		check.Same(t, want, w.job("t", strings.Fields(fetch)...).Variables, "variables")
	}
}

func TestAResultGoesToTheNearestScopeThatHasIt(t *testing.T) {
	w := deploy(t, strings.Replace(inASub, "near='=got' own='=near'", "", 1))
	w.start(`{"own":9}`)
	w.completes("t", `{"own":1,"near":1,"fresh":2}`)
	w.variable("T", "own", "1") // an input mapping swallows the result of its name
	w.variable("P", "own", "9")
	w.variable("Sub", "near", "1")
	w.variable("P", "near", "")
	w.variable("P", "fresh", "2")
	w.ended()
}

func TestWithOutputMappingsOtherResultsAreLost(t *testing.T) {
	w := deploy(t, inASub)
	w.start(`{}`)
	w.completes("t", `{"got":2,"lost":3}`)
	w.variable("Sub", "near", "2") // their targets go outward from the scope around
	w.variable("P", "near", "")
	w.variable("P", "own", "2") // a mapping sees those before it
	w.variable("P", "lost", "")
	w.variable("T", "lost", "3")
}

func TestATargetWithADotChangesAProperty(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t' claim.state='="sent"' fresh.deep.er='=1'
		S > T`)
	w.start(`{"claim":{"id":7,"state":"new"}}`)
	w.completes("t", `{}`)
	w.variable("P", "claim", `{"id":7,"state":"sent"}`)
	w.variable("P", "fresh", `{"deep":{"er":1}}`)
}

func TestASourceThatIsNotThereSetsNull(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t' in.a='=missing' b='=gone.too'
		S > T`)
	w.start(`{"b":1}`)
	check.Same(t, `{"a":null}`, w.job("t", "a").Variables, "variables")
	w.passes(lockOfTests)
	w.completes("t", `{}`)
	w.variable("P", "b", "null")
}

func TestEventsThatOnlyMapSetVariables(t *testing.T) {
	w := deploy(t, `
		S: start a='=1'
		X: throw b='=a + 1'
		E: end c='=b + 1'
		S > X
		X > E`)
	w.start(`{}`)
	w.variable("P", "c", "3")
	w.ended("E")
}

func TestAMessagesVariablesGoToTheProcess(t *testing.T) {
	w := deploy(t, `
		S: start
		M: catch message='m' key='="k"'
		N: catch message='n' key='="k"' only='=said'
		S > M
		M > N`)
	w.start(`{}`)
	w.publishes("m", "k", "", 0)
	w.variable("P", "said", `"yes"`)
	w.sets(w.last("PROCESS_INSTANCE", "ELEMENT_ACTIVATED").Value["processInstanceKey"].(int64), `{"said":null}`)
	w.publishes("n", "k", "", 0)
	w.variable("P", "only", `"yes"`)
	w.variable("N", "said", `"yes"`)
	w.variable("P", "said", "null")
}

func TestAnErrorsVariablesStayWithTheEventThatCatches(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		U: task type='u'
		B: boundary on='T' error='E1'
		C: boundary on='U' error='E1' kept='=reason'
		S > T
		B > U`)
	w.start(`{}`)
	w.throws("t", "E1", `{"reason":"first"}`)
	w.variable("B", "reason", `"first"`)
	w.variable("P", "reason", "")
	w.throws("u", "E1", `{"reason":"second"}`)
	w.variable("P", "kept", `"second"`)
	w.variable("P", "reason", "")
}

func TestACalledProcessGetsEverythingVisible(t *testing.T) {
	w := deploy(t, `
		S: start
		Sub: sub in.c='=3'
			S2: start
			C: call process='P2' in.a='="input"'
			S2 > C
		end Sub
		S > Sub`, oneTask)
	w.start(`{"a":"outer","b":2,"c":2}`)
	check.Same(t, `{"a":"input","b":2,"c":3}`, w.job("t").Variables, "variables")
}

func TestACalledProcessGivesEverythingBack(t *testing.T) {
	for attributes, want := range map[string][2]string{
		``:                              {"1", "2"}, // without a mapping: all
		`propagate='false'`:             {"", ""},
		`mine='=theirs'`:                {"", ""},
		`propagate='true' in.other='0'`: {"1", ""}, // an input swallows the result of its name
	} {
		w := deploy(t, `
			S: start
			C: call process='P2' `+attributes+`
			S > C`, oneTask)
		w.start(`{}`)
		w.completes("t", `{"theirs":1,"other":2}`)
		w.variable("P", "theirs", want[0])
		w.variable("P", "other", want[1])
		if attributes == `mine='=theirs'` {
			w.variable("P", "mine", "1")
		}
	}
}

func TestTheVariablesOfAFailureAreLocalToItsTask(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{"a":1}`)
	do[*pb.FailJobResponse](w, &pb.FailJobRequest{JobKey: w.job("t").Key, Retries: 1, Variables: `{"a":2}`})
	w.variable("P", "a", "1")
	check.Same(t, `{"a":2}`, w.job("t").Variables, "variables")
}

func TestAVariableKeepsItsKey(t *testing.T) {
	w := deploy(t, oneTask)
	instance := w.start(`{"a":1}`)
	w.sets(instance, `{"a":1}`) // it has not changed
	check.Same(t, 0, len(w.find("VARIABLE", "UPDATED")), "updates")
	w.sets(instance, `{"a":2}`)
	check.Same(t, w.last("VARIABLE", "CREATED").Key, w.last("VARIABLE", "UPDATED").Key, "key")
	check.Same(t, 1, len(w.find("VARIABLE", "CREATED")), "variables")
}

func TestWholeNumbersHave64Bits(t *testing.T) {
	w := deploy(t, oneTask)
	for _, n := range []string{"18446744073709551615", "-9223372036854775808", "9223372036854775808", "1e400", "0.12345678901234567890"} {
		w.start(`{"n":` + n + `}`)
		check.Same(t, `{"n":`+n+`}`, w.jobs("t")[0].Variables, "variables")
	}
	for _, n := range []string{"18446744073709551616", "-9223372036854775809", "[1,[99999999999999999999]]"} {
		w.refuses(
			&pb.CreateProcessInstanceRequest{BpmnProcessId: "P", Version: -1, Variables: `{"n":` + n + `}`},
			codes.InvalidArgument,
			"does not fit 64 bits",
		)
	}
}

func TestVariablesThatAreNoObjectAreRefused(t *testing.T) {
	w := deploy(t, oneTask)
	for _, variables := range []string{`[]`, `"x"`, `null`, `{`, `{}{}`} {
		w.refuses(
			&pb.CreateProcessInstanceRequest{BpmnProcessId: "P", Version: -1, Variables: variables},
			codes.InvalidArgument,
			"Invalid JSON value: "+variables,
		)
	}
}

func TestHalfASurrogatePairBecomesAQuestionMark(t *testing.T) {
	w := deploy(t, oneTask)
	w.start(`{"a":"x\ud83dy","b":"\ud83d\ude00","c":"\\ud83d","d":"\udc00"}`)
	check.Same(t, `{"a":"x?y","b":"\ud83d\ude00","c":"\\ud83d","d":"?"}`, w.job("t").Variables, "variables")
}

const inASub = `
	S: start
	Sub: sub in.near='=0'
		S2: start
		T: task type='t' in.own='=0' near='=got' own='=near'
		S2 > T
	end Sub
	S > Sub`

func TestVariablesAreSetInTheNearestScopeThatHasThemOrLocally(t *testing.T) {
	w := deploy(t, inASub)
	w.start(`{}`)
	task := w.job("t").ElementInstanceKey
	do[*pb.SetVariablesResponse](w, &pb.SetVariablesRequest{
		ElementInstanceKey: task, Variables: `{"own":1,"near":1,"fresh":1}`,
	})
	for _, at := range [][2]string{{"T", "own"}, {"Sub", "near"}, {"P", "fresh"}} {
		w.variable(at[0], at[1], "1")
	}
	w.variable("P", "own", "")
	w.variable("P", "near", "")
	w.sets(task, `{"fresh":3}`)
	w.variable("P", "fresh", "1")
	w.variable("T", "fresh", "3")
}

func TestAMessagesVariablesAreLocalToAnEventWithOutputs(t *testing.T) {
	w := deploy(t, `
		S: start
		T: task type='t'
		B: boundary on='T' message='m' key='="k"' kept='=said'
		G: await
		C: catch message='n' key='="k"'
		D: catch timer='PT1H'
		S > T
		B > G
		G > C
		G > D`)
	w.start(`{}`)
	w.publishes("m", "k", "", 0)
	w.variable("B", "said", `"yes"`)
	w.variable("P", "kept", `"yes"`)
	w.variable("P", "said", "")
	w.publishes("n", "k", "", 0)
	w.variable("P", "said", `"yes"`)
}

func TestTheResultsOfAUserTaskGoWhereThoseOfAJobGo(t *testing.T) {
	w := deploy(t, `
		S: start
		U: user group='a' in.a='=1'
		V: user group='a' b='=c'
		S > U
		U > V`)
	w.start(`{}`)
	for range 2 {
		_, err := w.Do(w.clock, &CompleteUserTask{Key: w.last("USER_TASK", "CREATED").Key, Variables: `{"a":2,"c":3}`})
		check.Must(t, err)
	}
	w.variable("U", "a", "2")
	w.variable("P", "b", "3")
	w.variable("V", "c", "3")
}
