// Package engines holds a Maven module: Camunda's workflow engine of newer versions, each in Camunda's own test gateway, as a
// program. It stands in for brokers that cannot be had. internal/testing/devbroker builds and starts it.
package engines

import "embed"

// MainClass is the module's program; its source lists the arguments.
const MainClass = "hospital.example.engines.Main"

// Sources is where the Java sources begin in [Module].
const Sources = "src/main/java"

// Module holds pom.xml, the sources and locks.
//
//go:embed pom.xml src locks
var Module embed.FS

// Lock returns the file of Module with the libraries of a version: one a line, as sha256sum writes them.
func Lock(version string) string {
	return "locks/" + version + ".sha256"
}
