# Bare `make` prints what there is. Works with GNU make 3.81 (macOS) and later. No target leaves a process behind.

GO           ?= go
FUZZTIME     ?= 10s
LINT_VERSION := v2.15.0
# The linter must be built by a Go at least as new as the code, so both versions stand in its name.
LINT         := .cache/bin/golangci-lint-$(LINT_VERSION)-$(shell $(GO) env GOVERSION 2>/dev/null)
MODEL_TOOLS  := tools/models/node_modules/.package-lock.json
VERSION      := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS      := -X hospital.example/analyze-retry/internal/cli.version=$(VERSION)
# Without it gRPC links golang.org/x/net/trace and with that html/template, and with a template linked no method of any type is
# left out of the binary: 4.6 of 33.8 MB.
LEAN         := -tags=grpcnotrace

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

##@ See it work

.PHONY: demo up
demo: build ## The sample claims on the engine with the worker, hours in seconds
	@bin/sandbox demo

up: build ## The engine with the worker and an insurer, to play with, until Ctrl-C
	@bin/sandbox up

##@ Build

.PHONY: build image clean
build: ## bin/worker and bin/sandbox
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false $(LEAN) -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

image: ## The container image analyze-retry:latest (needs docker)
	docker build -f deploy/Dockerfile --build-arg VERSION=$(VERSION) -t analyze-retry:$(VERSION) -t analyze-retry:latest .

clean: ## Remove what was built (downloads stay in .cache)
	rm -rf bin tools/models/node_modules

##@ Test

.PHONY: test test-unit test-deploy test-image test-servers test-models test-clients test-cluster race coverage chaos soak fuzz bench
# The tests are compiled as the binaries are, without a C compiler and with the same flags, so that they share what is in
# Go's cache; `make vet` vets them. Most of the time they wait for servers and processes, so more packages run at once than
# there are processors.
GOTEST  := CGO_ENABLED=0 $(GO) test
COMPILE := -trimpath -vet=off $(LEAN)
FLAGS   := $(COMPILE) -shuffle=on -timeout 20m
MODULE  := hospital.example/analyze-retry
ALL      = $(shell $(GO) list ./...)
# Those that take longest begin first.
TESTED   = ./test/e2e ./internal/audit/postgres $(filter-out $(MODULE)/test/%,$(ALL))
test: ## All that needs Go only: the rule, both stores, the loop, the commands, the models, what is deployed
	@CGO_ENABLED=0 $(GO) run -trimpath $(LEAN) ./internal/testing/devpostgres/prepare
	@$(GOTEST) $(FLAGS) -count=1 -p 4 $(TESTED)
	@cd deploy && $(GOTEST) $(FLAGS) -count=1 ./...
	@echo 'make test-servers adds the tests on RabbitMQ, strace and promtool,'
	@echo 'make test-models those in the modeler, make test-clients those with clients of others, make test-image the image,'
	@echo 'make race the race detector, make chaos faults on purpose. Each prints what it needs.'

# Without what links the clients of PostgreSQL and of queues, which take longer to compile than all the rest. Packages that did
# not change cost nothing.
NO_UNIT := bench cmd/% docs internal/app internal/audit/postgres internal/audit/sqlite/exhaustive internal/cli internal/audit/events% \
	internal/testing/% test/%
UNIT     = $(filter-out $(addprefix $(MODULE)/,$(NO_UNIT)),$(ALL))
test-unit: ## The fast inner loop: the rule, the job loop, both protocols, the SQLite store; no server
	@$(GOTEST) $(COMPILE) -p 4 $(UNIT)
	@echo 'make test adds the commands, PostgreSQL, the queues, the engine, and the claims from end to end.'

# A module of its own: Helm, Kubernetes and Grafana stay out of what the worker requires.
test-deploy: ## What is deployed: chart, compose files, alert rules, dashboard
	@cd deploy && $(GOTEST) $(FLAGS) -count=1 ./...

test-image: ## The image, built by buildah without a container engine, and run on the engine
	@.ci/needs $@ Linux root buildah debootstrap
	@.ci/tagged image

test-servers: ## RabbitMQ, power cuts, the alert rules
	@.ci/needs $@ rabbitmq-server strace promtool
	@.ci/tagged servers

test-models: ## The models in Camunda's modeler, and lint-models
	@.ci/needs $@ node-20 chromium
	@$(MAKE) --no-print-directory lint-models
	@.ci/tagged models

test-clients: ## Clients that others wrote, on the engine, and a spreadsheet
	@.ci/needs $@ node-20 javac mvn pip soffice
	@.ci/tagged clients

test-cluster: ## The end-to-end suite on a Camunda of yours (ZEEBE_ADDRESS=...; docs/engine.md)
	@[ -n "$$ZEEBE_ADDRESS" ] || { echo "make $@ needs ZEEBE_ADDRESS and the other variables of docs/engine.md" >&2; exit 2; }
	$(GO) test -v $(FLAGS) -count=1 ./test/e2e

# The detector's pause at the end of each process finds no race. Thousands of stores that one goroutine opens one after the
# other are up to ten times slower with the detector, and it finds nothing there.
race: race-needs ## The tests of make test with the race detector
	@CGO_ENABLED=0 $(GO) run -trimpath $(LEAN) ./internal/testing/devpostgres/prepare
	@GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 30m -count=1 -p 4 \
		$(filter-out %/exhaustive %/bench,$(TESTED))

# A target of its own: make lists the packages, which may download modules, before it runs the first line of race.
.PHONY: race-needs
race-needs:
	@.ci/needs race C-compiler

# What is between a job and its answer. RN-BIL-005 asks for 91 % (section 13.1), RN-BIL-004 for 96 %; both are this one code, so
# the greater holds, for each package. The tests of all of them count: the handler's tests are those of its reader too.
RULE := ./internal/retry ./internal/retry/errtext ./internal/retry/policy ./internal/worker/contract ./internal/worker ./internal/worker/input
COVERAGE := .cache/coverage.out
empty :=
comma := ,
coverage: ## How much of the rule's packages the tests run; at least 96 % of each
	@mkdir -p $(dir $(COVERAGE))
	@$(GO) test -coverprofile=$(COVERAGE) -coverpkg=$(subst $(empty) ,$(comma),$(RULE)) $(RULE) >$(COVERAGE).log || { cat $(COVERAGE).log; exit 1; }
	@awk -v least=96 'NR > 1 { \
			package = $$1; sub("/[^/]*$$", "", package); sub("^.*/internal/", "internal/", package); \
			if (!($$1 in statements)) total[package] += statements[$$1] = $$2; \
			if ($$3 > 0 && !run[$$1]++) covered[package] += $$2 \
		} END { \
			for (package in total) { \
				share = 100 * covered[package] / total[package]; few = share < least; bad += few; \
				printf "%-24s %5.1f %% of %4d statements%s\n", package, share, total[package], few ? ", less than " least " %" : "" \
			} \
			exit bad || NR < 2 \
		}' $(COVERAGE)

# -v, because go hides what a test that passed has counted.
CHAOS := $(GO) test -v -shuffle=on -count=1 -timeout 5h ./test/chaos
chaos: ## Kill, cut off and starve the worker and what it lives on
	@.ci/needs $@ Linux root strace
	$(CHAOS)/...

SOAK ?= 1m
soak: ## Faults drawn from a seed, one after the other, for SOAK (1m); SOAK_SEED repeats a run
	@.ci/needs $@ Linux root
	SOAK=$(SOAK) $(CHAOS) -run '^TestSoak$$'

# A minute of making an interesting input smaller is more than a run has.
fuzz: ## Every fuzz target for FUZZTIME (10s)
	@grep -rHoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' internal bpmn cmd | \
	sed -E 's|^(.*)/[^/]*:func (.*)$$|\1 \2|' | while read -r dir name; do \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x "./$$dir" </dev/null || exit 1; \
	done

bench: ## The worker compared with the client library's own and the first one that a team writes, or with AGAINST=another build; five minutes
	$(GO) run $(LEAN) ./bench $(if $(AGAINST),-against $(abspath $(AGAINST)))

##@ Check

.PHONY: verify subjects fmt fmt-check vet lint lint-models
verify: ## What CI runs
	.ci/run

# The commits behind this one, or all that a shallow clone has.
SUBJECTS_SINCE := 7246166
subjects: ## The subjects of new commits: "area: imperative", at most 72 characters
	@since=; if git cat-file -e '$(SUBJECTS_SINCE)^{commit}' 2>/dev/null; then since='--not $(SUBJECTS_SINCE)'; fi; \
	git log --no-merges --format='%h %s' HEAD $$since | awk ' \
		{ subject = substr($$0, length($$1) + 2) } \
		length(subject) > 72 || subject !~ /^[a-z0-9][a-z0-9_.\/, -]*: [a-z]/ || subject ~ /\.$$/ { print; bad = 1 } \
		END { if (bad) print "want \"area: imperative\", at most 72 characters, no full stop"; exit bad }' >&2

fmt: $(LINT) ## Format the Go code
	$(LINT) fmt
	cd deploy && ../$(LINT) fmt

fmt-check: $(LINT)
	$(LINT) fmt --diff
	cd deploy && ../$(LINT) fmt --diff

TAGS := -tags servers,models,clients,image
vet: ## go vet
	$(GO) vet $(TAGS) ./...
	cd deploy && $(GO) vet $(TAGS) ./...

lint: $(LINT) ## golangci-lint, and what the worker's binary links
	$(LINT) run --allow-parallel-runners
	cd deploy && ../$(LINT) run --allow-parallel-runners
	@linked=$$($(GO) list -deps ./cmd/worker) || exit 1; \
	if echo "$$linked" | grep -E '/internal/testing/|^testing$$|testify|goleak|rapid|kfake|go-cmp'; then \
		echo "These packages are for tests and developers, but ./cmd/worker links them." >&2; exit 1; \
	fi

lint-models: $(MODEL_TOOLS) ## The models, forms and element templates, by the rules of Camunda 8.5 and later (needs Node 20 and Chromium)
	cd tools/models && npm run --silent lint

##@ Generated files

.PHONY: generate pictures
generate: ## Policies schema, settings, metrics, and what the chart renders
	$(GO) generate ./internal/retry/policy
	$(GO) test -count=1 ./internal/config ./internal/metrics -update
	cd deploy && $(GO) test -count=1 ./helm -update

pictures: $(MODEL_TOOLS) ## The pictures of the models and the forms (needs Node 20 and Chromium)
	cd tools/models && npm run --silent render && node steps.mjs

# Built from its module, with the checksum database watching; about a minute and a half, once.
$(LINT):
	@echo "building golangci-lint $(LINT_VERSION), once"
	GOBIN="$(CURDIR)/.cache/bin" $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv .cache/bin/golangci-lint $@

$(MODEL_TOOLS): tools/models/package-lock.json
	cd tools/models && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

.PHONY: help
help:
	@awk 'BEGIN { FS = ":.*## "; print "make <target>" } \
		/^##@ / { print "\n" substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
