//go:build clients

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hospital.example/analyze-retry/internal/testing/check"
)

var (
	tableRow  = regexp.MustCompile(`(?s)<table:table-row.*?</table:table-row>`)
	tableCell = regexp.MustCompile(`(?s)<table:table-cell[^>]*?(?:office:(?:date-value|value)="([^"]*)"[^>]*)?>\s*<text:p>([^<]*)</text:p>`)
)

// LibreOffice as in Brazil takes the columns, the times and the numbers for what they are.
func TestASpreadsheetInBrazilOpensAListOfClaims(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "contas.csv")
	write(t, file, archived(t, week()).must(t, "claims", "CLM", "--csv", "--lang", "pt-BR", "--tz", "America/Sao_Paulo"))
	const semicolons, quotes, utf8, brazil = "59", "34", "76", "1046"
	office := exec.CommandContext(t.Context(), "soffice", "--headless", "-env:UserInstallation=file://"+dir+"/home",
		"--infilter=Text - txt - csv (StarCalc):"+semicolons+","+quotes+","+utf8+",1,,"+brazil+",false,true", "--convert-to", "fods", "--outdir", dir, file)
	office.Env = append(os.Environ(), "HOME="+dir)
	said, err := office.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var rows []string
	for _, row := range tableRow.FindAllString(read(t, filepath.Join(dir, "contas.fods")), -1) {
		var cells []string
		for _, cell := range tableCell.FindAllStringSubmatch(row, -1) {
			if cells = append(cells, cell[2]); cell[1] != "" { // a time or a number, not its text
				cells[len(cells)-1] = cell[1]
			}
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	check.Same(t, "conta | situação | com quem | política | desde | aberta em | próximo envio | retentativas | motivo | decidido por", rows[0], "the heads")
	check.Same(t, "CLM-ENC-003-9 | atrasada | tiss | 2026-01-12T04:27:00 | 2026-01-12T04:10:00 | 2026-01-12T04:27:00 | 3 | nenhuma regra reconhece o texto",
		rows[3], "a claim that is overdue")
	check.Contains(t, rows[5], "CLM-ENC-001-7 | aceita | tiss | 2026-01-11T07:05:00")
}
