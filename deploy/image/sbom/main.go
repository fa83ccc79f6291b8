// Command sbom writes what a binary of the worker is made of, as CycloneDX 1.6 in JSON.
//
//	sbom v1.2.3 deploy/image/licenses.csv worker.cdx.json bin/worker
//
// The arguments are the worker's version, the list of licences, the file to write and the binary. The modules are read
// from the binary, so the document names what was linked. The same binary gives the same bytes: there is no time in it.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION LICENCES OUTPUT BINARY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(version, list, out, binary string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	bom, err := describe(version, string(text), binary)
	if err != nil {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom), file.Close())
}

// describe returns the document. A module without a licence in the list is an error: the list is out of date.
func describe(version, list, binary string) (*cdx.BOM, error) {
	rows, err := csv.NewReader(strings.NewReader(list)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read the list of licences: %w", err)
	}
	licences := map[string]string{} // SPDX expressions, by module
	for _, row := range rows {
		licences[row[0]] = row[1]
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read what %s is made of: %w", binary, err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	bom := cdx.NewBOM()
	bom.SpecVersion = cdx.SpecVersion1_6
	bom.JSONSchema = "http://cyclonedx.org/schema/bom-1.6.schema.json"
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, []byte(sum)).URN() // another binary, another number
	worker := component(cdx.ComponentTypeApplication, info.Main.Path, version, "Apache-2.0")
	worker.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}
	bom.Metadata = &cdx.Metadata{Component: &worker}
	bom.Components = &[]cdx.Component{}
	for _, m := range append([]*debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...) {
		licence, known := licences[m.Path]
		if !known {
			return nil, fmt.Errorf("the list of licences lacks %s: run make generate", m.Path)
		}
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: what was linked has no public name", m.Path, m.Replace.Path)
		}
		*bom.Components = append(*bom.Components, component(cdx.ComponentTypeLibrary, m.Path, m.Version, licence))
	}
	return bom, nil
}

// component returns a module under the name by which scanners know it.
func component(kind cdx.ComponentType, name, version, licence string) cdx.Component {
	if name == "std" {
		name = "stdlib" // its name in the databases of vulnerabilities
	}
	purl := "pkg:golang/" + strings.ToLower(name) + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{
		BOMRef: purl, Type: kind, Name: name, Version: version, PackageURL: purl,
		Licenses: &cdx.Licenses{{Expression: licence}},
	}
}
