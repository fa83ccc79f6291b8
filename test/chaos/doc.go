// Package chaos breaks the worker, the broker, the network and the store on purpose, on real parts, and checks after
// every fault that nothing was lost, decided twice, forgotten or given away.
//
// Its tests are the rows of a matrix, one number each. Every row proves that its fault has happened, and then holds the
// invariants I1 to I6 (invariants_test.go). A table at the end says what was done to the worker and how often. CHAOS=long
// runs the long form. SOAK=5m runs TestSoak (row 32) for so long or longer, and no other
// row.
package chaos
