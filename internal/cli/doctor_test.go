package cli_test

import (
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/report"
	"hospital.example/analyze-retry/internal/testing/check"
)

func TestDoctorExitsWithOneOnlyIfThereIsAFault(t *testing.T) {
	h := openHospital(t)
	h.settings = append(h.settings, "RETRY_HTTP_ADDRESS=127.0.0.1:1")
	text := h.must(t, "doctor")
	contains(t, "doctor", text, "ok       gateway         grpc://127.0.0.1:", "warning  worker          no worker answers", "\n         -> none runs with these settings on this host")
	var healthy report.Diagnoses
	h.decodes(t, 0, &healthy, "doctor", "--json")
	check.Same(t, strings.Count(text, "\n")-strings.Count(text, "\n         -> "), len(healthy), "diagnoses in the text")

	h.gateway.Assign("sul")
	code, text, complaint := h.run(t, "doctor")
	check.Same(t, 1, code, "exit code")
	check.Same(t, "worker: 1 fault found\n", complaint, "complaint")
	contains(t, "doctor", text, "fault    tenant ")
	var refused report.Diagnoses
	h.decodes(t, 1, &refused, "doctor", "--json")
	check.Same(t, 1, refused.Faults(), "faults")
}

func TestDoctorGivesFaultsOfTheSettingsToMachines(t *testing.T) {
	var list report.Diagnoses
	with("RETRY_LOG_LEVEL=loud", "RETRY_TENANT=a b").decodes(t, 2, &list, "doctor", "--json")
	check.Same(t, 2, list.Faults(), "faults")
	check.Same(t, "settings", list[0].Check, "check")
}
