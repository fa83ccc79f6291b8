package script

import (
	"slices"
	"strings"

	"hospital.example/analyze-retry/cmd/sandbox/demo/history"
)

// claimID is the process variable with the claim's number.
const claimID = "claimId"

// correctable are the variables that an operator can correct: those that the start of the process and the insurer give.
var correctable = []string{claimID, "submissionError"}

// claim reads one row. What is wrong in it becomes faults.
func (p *parser) claim(row []string) Claim {
	id, line := p.cell(row, "claim")
	c := Claim{Line: line, ID: id}
	c.Shows, _ = p.cell(row, "shows")
	c.Answers = p.answers(row, line)
	c.Outcomes = p.outcomes(row, c.Answers)
	c.Acts = p.acts(row)
	c.End = p.end(row)
	if c.ID == "" {
		p.fault(line, "claim is empty: give its number")
		return c
	}
	for _, number := range c.IDs() {
		if first, twice := p.seen[number]; twice {
			p.fault(line, "the claim %s is there already, at line %d", number, first)
		}
		p.seen[number] = line
	}
	return c
}

func (p *parser) answers(row []string, line int) []Answer {
	entries := p.entries(row, "answers")
	if len(entries) == 0 {
		p.fault(line, "answers is empty: give one line for each submission, %s or the text of an error", Accepted)
	}
	var answers []Answer
	for i, e := range entries {
		switch {
		case e.text == "":
			p.fault(e.line, "an empty answer: write %s for a refusal without a text", Empty)
		case e.text == string(Accepted) && i < len(entries)-1:
			p.fault(e.line, "%s before the last answer: a claim that is accepted is not submitted again", Accepted)
		}
		answers = append(answers, Answer(e.text))
	}
	return answers
}

// outcomes reads one line for each answer. A submission has more than one outcome where an operator resolves its
// incident: "INCIDENT, TRANSIENT".
func (p *parser) outcomes(row []string, answers []Answer) []string {
	entries := p.entries(row, "outcomes")
	if len(entries) == 0 {
		return nil
	}
	if len(entries) != len(answers) {
		p.fault(entries[0].line, "outcomes and answers differ in number: %d and %d lines", len(entries), len(answers))
	}
	var all []string
	for i, e := range entries {
		var outcomes []history.Outcome
		for word := range strings.SplitSeq(e.text, ",") {
			outcome := history.Outcome(strings.TrimSpace(word))
			if !slices.Contains(history.Outcomes(), outcome) {
				p.fault(e.line, "%q is no outcome; there are %s", outcome, list(history.Outcomes()))
			}
			outcomes = append(outcomes, outcome)
		}
		if i < len(answers) && slices.Contains(outcomes, history.OK) != (answers[i] == Accepted) {
			p.fault(e.line, "the outcome %s does not go with the answer: %s goes with %s only", e.text, history.OK, Accepted)
		}
		all = append(all, Outcomes(outcomes))
	}
	return all
}

// Outcomes words what became of one submission.
func Outcomes(outcomes []history.Outcome) string { return list(outcomes) }

func (p *parser) acts(row []string) []Act {
	var acts []Act
	for _, e := range p.entries(row, "people") {
		who, what, _ := strings.Cut(e.text, " ")
		what = strings.TrimSpace(what)
		act := Act{Who: who}
		switch who {
		case Billing, Registration:
			act.Decision, act.Justification, _ = strings.Cut(what, " ")
			act.Justification = strings.TrimSpace(act.Justification)
			p.checkDecision(act, e.line)
		case Operator:
			act.Variable, act.Value, _ = strings.Cut(what, "=")
			act.Variable, act.Value = strings.TrimSpace(act.Variable), strings.TrimSpace(act.Value)
			if !slices.Contains(correctable, act.Variable) || act.Value == "" {
				p.fault(e.line, "%s %s: write variable=value; the variables are %s", who, what, list(correctable))
			}
		default:
			p.fault(e.line, "%q does nothing here; there are %s", who, list([]string{Billing, Registration, Operator}))
		}
		acts = append(acts, act)
	}
	return acts
}

func (p *parser) checkDecision(act Act, line int) {
	switch act.Decision {
	case Resubmit:
		if act.Justification == "" {
			p.fault(line, "%s %s lacks the justification: without one the model gives the task back", act.Who, Resubmit)
		}
	case Abandon:
	default:
		p.fault(line, "%s decides %q; a team decides %s or %s", act.Who, act.Decision, Resubmit, Abandon)
	}
}

func (p *parser) end(row []string) history.End {
	text, line := p.cell(row, "end")
	end := history.End(text)
	if !slices.Contains(history.Ends(), end) {
		p.fault(line, "%q is no end; there are %s", text, list(history.Ends()))
	}
	return end
}

func list[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, ", ")
}
