// Command prepare prints which PostgreSQL the tests start. It fetches one where none is installed.
package main

import (
	"fmt"
	"os"

	"hospital.example/analyze-retry/internal/testing/devpostgres"
)

func main() {
	bin, err := devpostgres.Programs()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "PostgreSQL:", bin)
}
