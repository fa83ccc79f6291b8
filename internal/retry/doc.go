// Package retry is the rule RN-BIL-005: given a claim whose submission failed, try again and when, or stop.
//
// It is pure. It reads no clock, no file and no network, keeps no state and draws no random numbers: the time
// and everything that decides the jitter come in as arguments, so the same request always gets the same
// decision, on every machine.
//
// A [Policy] checks these conditions in order; the first that holds decides a [Request]:
//
//  1. retryCount >= MaxRetries: [OutcomeExhausted], for every error (V1).
//  2. A permanent rule matches the error text: [OutcomePermanent] (V2).
//  3. No try fits before the deadline: [OutcomeExhausted], with [StepDeadline].
//  4. The other side said when to come back ([Hint]): [OutcomeRetry] then, within Min and Max.
//  5. Otherwise: [OutcomeRetry] after the policy's own wait. An unknown error is retried too,
//     unless the policy says otherwise.
//
// The policy's own wait grows by Factor from Base with every retry and is capped at Max; then the jitter
// draws one of the whole units of Precision from the band around it, never below Min or above Max (V3).
//
// [Advice] is independent of the outcome: it is given if the submission may have reached its receiver
// although it failed.
package retry
