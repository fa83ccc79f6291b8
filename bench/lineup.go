package main

import "path/filepath"

// lineup is who takes turns: against the gateway in this process, and on a real broker.
type lineup struct {
	gateway, broker []contender
	// ratio says to whom the others are compared.
	ratio string
}

// beside lines the worker up with the library's worker that decides nothing.
func beside(binary string, on *stores) (lineup, error) {
	bare, err := noDecisionWorker("no-decision worker", "")
	if err != nil {
		return lineup{}, err
	}
	same, err := noDecisionWorker("no-decision worker with our variables", sameVariables)
	if err != nil {
		return lineup{}, err
	}
	bench, err := notDurableWorker()
	if err != nil {
		return lineup{}, err
	}
	inFile, onServer := product("SQLite", binary, on.sqlite), product("PostgreSQL", binary, on.postgres(binary))
	return lineup{
		gateway: []contender{
			bare,
			inFile.against(0, atMost(1.6), noTarget),
			onServer.against(0, atMost(2), noTarget),
			bench.against(0, atMost(1), atLeast(1)),
		},
		broker: []contender{
			bare,
			inFile.against(0, noTarget, atLeast(0.93)),
			onServer.against(0, noTarget, atLeast(0.93)),
			bench.against(0, noTarget, atLeast(0.97)),
			same.against(0, noTarget, noTarget),
		},
		ratio: "ratio to the no-decision worker",
	}, nil
}

// twoBuilds lines two builds of the worker up with each other.
func twoBuilds(binary, other string, on *stores) (lineup, error) {
	path, err := filepath.Abs(other)
	if err != nil {
		return lineup{}, err
	}
	both := []contender{
		product("SQLite, "+other, path, on.sqlite),
		product("SQLite", binary, on.sqlite).against(0, noTarget, noTarget),
		product("PostgreSQL, "+other, path, on.postgres(path)).against(2, noTarget, noTarget),
		product("PostgreSQL", binary, on.postgres(binary)).against(2, noTarget, noTarget),
	}
	return lineup{gateway: both, broker: both, ratio: "ratio to " + other}, nil
}
