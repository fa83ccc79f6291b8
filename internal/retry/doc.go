// Package retry is the rule RN-BIL-005: given a claim whose submission failed, try again and when, or stop.
//
// It is pure. It reads no clock, no file and no network, keeps no state and draws no random numbers: the time and
// everything that decides the jitter come in as arguments, so the same question always gets the same answer, on
// whatever machine it is asked.
//
// A [Policy] decides a [Request] in this order:
//
//  1. retryCount >= MaxRetries: [OutcomeExhausted], whatever the error says (V1).
//  2. The error text contains a permanent code: [OutcomePermanent] (V2).
//  3. It contains a transient code: [OutcomeRetry], class [Transient].
//  4. Otherwise: [OutcomeRetry], class [Unknown]. An error nobody has classified yet is worth another try.
//
// The wait before a retry doubles from Base with every retry and is capped at Max; then the jitter spreads it by
// JitterPercent to both sides, in whole minutes, never below Min or above Max (V3). The time of the next try is
// therefore always in the future (V5).
package retry
