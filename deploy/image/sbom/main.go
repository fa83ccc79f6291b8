// Command sbom writes what a binary of the worker is made of, as CycloneDX 1.6 in JSON.
//
//	sbom -version v1.2.3 -licences deploy/image/licenses.csv -o worker.cdx.json bin/worker
//
// It reads the modules from the binary itself, so that it tells what was linked and not what was asked for. The same
// binary gives the same bytes: there is no time in it.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

func main() {
	version := flag.String("version", "", "version of the worker; the binary itself knows only that of its modules")
	list := flag.String("licences", "", "the list of licences (deploy/image/licenses.csv)")
	out := flag.String("o", "", "file to write")
	flag.Parse()
	if *version == "" || *list == "" || *out == "" || flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*version, *list, *out, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(version, list, out, binary string) error {
	licences, err := readLicences(list)
	if err != nil {
		return err
	}
	bom, err := describe(version, licences, binary)
	if err != nil {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	err = cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return errors.Join(err, file.Close())
}

// readLicences returns the licence, as an SPDX expression, of each module in the list.
func readLicences(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	licences := make(map[string]string, len(rows))
	for _, row := range rows {
		licences[row[0]] = row[1]
	}
	return licences, nil
}

// describe makes the document. A module without a licence in the list is an error: the list is out of date.
func describe(version string, licences map[string]string, path string) (*cdx.BOM, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read what %s is made of: %w", path, err)
	}
	sum, err := sha256Of(path)
	if err != nil {
		return nil, err
	}
	bom := cdx.NewBOM()
	bom.SpecVersion = cdx.SpecVersion1_6
	bom.JSONSchema = "http://cyclonedx.org/schema/bom-1.6.schema.json"
	// A document of another binary has another number; one of the same has the same.
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, []byte(sum)).URN()
	worker := component(cdx.ComponentTypeApplication, info.Main.Path, version, "Apache-2.0")
	worker.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}
	bom.Metadata = &cdx.Metadata{Component: &worker}

	var parts []cdx.Component
	var unknown []string
	for _, m := range append([]*debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...) {
		licence, known := licences[m.Path]
		if !known {
			unknown = append(unknown, m.Path)
		}
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: what was linked has no public name", m.Path, m.Replace.Path)
		}
		parts = append(parts, component(cdx.ComponentTypeLibrary, m.Path, m.Version, licence))
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("the list of licences lacks %s: go test ./image/thirdparty -update", strings.Join(unknown, ", "))
	}
	bom.Components = &parts
	return bom, nil
}

// component is one module under the name by which scanners know it.
func component(kind cdx.ComponentType, path, version, licence string) cdx.Component {
	name := path
	if path == "std" {
		name = "stdlib" // so it is called in the data on vulnerabilities
	}
	purl := "pkg:golang/" + strings.ToLower(name) + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{
		BOMRef: purl, Type: kind, Name: name, Version: version, PackageURL: purl,
		Licenses: &cdx.Licenses{{Expression: licence}},
	}
}

func sha256Of(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
