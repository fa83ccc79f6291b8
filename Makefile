# Bare `make` prints what there is. Works with GNU make 3.81 (macOS) and later. No target leaves a process behind,
# but for `up`, which says so.

GO           ?= go
FUZZTIME     ?= 10s
LINT_VERSION := v2.15.0
# The linter must be built by a Go at least as new as the code, so both versions stand in its name.
LINT         := .cache/bin/golangci-lint-$(LINT_VERSION)-$(shell $(GO) env GOVERSION 2>/dev/null)
MODEL_TOOLS  := tools/models/node_modules/.package-lock.json
VERSION      := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS      := -X hospital.example/analyze-retry/internal/cli.version=$(VERSION)
# Everything but the real-broker suite.
UNIT         := $$($(GO) list ./... | grep -v /test/)

# The version of the broker under test, for every target that starts one. Both names do.
ifdef ENGINE
export ZEEBE_TEST_VERSION := $(ENGINE)
endif

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

##@ See it work

.PHONY: demo up down
demo: build ## The sample claims on the engine with the worker, hours in seconds (MODEL=my.bpmn, with its forms: your own)
	@bin/sandbox demo $(addprefix --model=,$(MODEL)) $(addprefix --claims=,$(CLAIMS))

up: build ## Start the engine and the worker and leave them running
	@bin/sandbox up

down: build ## Stop what `make up` started
	@bin/sandbox down

##@ Build

.PHONY: build image clean
build: ## bin/worker and bin/sandbox
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

image: ## The container image analyze-retry:latest (needs docker)
	docker build -f deploy/Dockerfile --build-arg VERSION=$(VERSION) -t analyze-retry:$(VERSION) -t analyze-retry:latest .

clean: ## Remove what was built (downloads stay in .cache)
	rm -rf bin tools/models/node_modules

##@ Test

.PHONY: test test-unit test-deploy test-e2e test-newer test-matrix coverage chaos soak fuzz bench race-ready
# Most of the time the tests wait, for servers and for the broker, so more packages run at once than there are processors.
# The detector's pause at the end of each process finds no race. Thousands of stores opened by one goroutine each
# (exhaustive), and as many texts, are up to ten times slower with the detector, and it finds nothing there.
RACE := GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -race -p 4 -shuffle=on -count=1 -timeout 30m
test: race-ready $(MODEL_TOOLS) test-deploy ## Everything, the real-broker suite included, with the race detector and no cached results
	$(RACE) ./test/e2e $$($(GO) list ./... | grep -vE '/test/|/exhaustive$$')
	$(GO) test -shuffle=on -count=1 ./internal/audit/sqlite/exhaustive ./internal/redact

# No race detector and no shuffling: it needs no C compiler, and packages that did not change cost nothing.
test-unit: ## The fast inner loop: all but the real-broker suite
	$(GO) test $(UNIT)

# A module of its own: Helm, Kubernetes and Grafana stay out of what the worker requires.
test-deploy: ## What is deployed: chart, compose files, alert rules, dashboard, image, workflows
	cd deploy && $(GO) test -shuffle=on -count=1 ./...

test-e2e: race-ready $(MODEL_TOOLS) ## The real-broker suite (ENGINE=8.8.21: on that version)
	$(RACE) ./test/e2e

# Each word is VERSION=TESTS, or VERSION-rest=TESTS for workers that use the REST API.
OTHERS := '8.8.21=.' '8.6.0-rest=^Test(Demo|Seed|Tenants)' '8.7.26=^Test(Demo|Seed)' '8.9.0-rc2=^Test(Demo|Seed)'
test-newer: $(MODEL_TOOLS) ## The suite on an engine of Camunda 8.8, the demo and the seeds on 8.6 (those over REST), 8.7 and 8.9
	test/e2e/versions $(OTHERS)

test-matrix: $(MODEL_TOOLS) ## The whole suite on every version of Zeebe, and over REST
	test/e2e/versions 8.5.8=. 8.6.0=. 8.6.0-rest=. 8.7.26=. 8.8.21=. 8.9.0-rc2=.

# What is between a job and its answer. RN-BIL-005 asks for 91 % (section 13.1), RN-BIL-004 for 96 %; both are this one code, so
# the greater holds, for each package. The tests of all of them count: the handler's tests are those of its reader too.
RULE := ./internal/retry ./internal/evidence ./internal/policy ./internal/contract ./internal/worker ./internal/worker/input
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

# -v, because go hides the table at the end of a test that passed. Each row says itself which others it can run next to. The
# soak is compiled with the tag soak only.
CHAOS_TESTS := $(GO) test -v -shuffle=on -count=1 -p 1 -timeout 5h ./test/chaos
chaos: ## Kill, cut off and starve the worker and what it lives on (CHAOS=long: the long form)
	$(CHAOS_TESTS)/...

SOAK ?= 5m
soak: ## Faults drawn from a seed, one after the other, for SOAK (5m); SOAK_SEED repeats a run
	SOAK=$(SOAK) $(CHAOS_TESTS) -tags soak -run '^TestSoak$$'

# A minute of making an interesting input smaller is more than a run has.
fuzz: ## Every fuzz target for FUZZTIME (10s)
	@grep -rHoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' internal bpmn cmd | \
	sed -E 's|^(.*)/[^/]*:func (.*)$$|\1 \2|' | while read -r dir name; do \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x "./$$dir" </dev/null || exit 1; \
	done

bench: ## A decision's cost, and the worker beside the client library's own
	$(GO) run ./bench

race-ready:
	@set -- $$($(GO) env CC); command -v "$$1" >/dev/null || { \
		echo "The race detector needs a C compiler and there is no '$$1': apt-get install gcc libc6-dev, or xcode-select --install" >&2; exit 1; }

##@ Check

.PHONY: verify subjects fmt fmt-check vet lint lint-models
verify: ## What CI runs, in its order
	@start=$$(date +%s); for step in subjects fmt-check vet lint lint-models build test test-newer coverage chaos; do \
		echo "== make $$step (after $$(($$(date +%s) - start)) s)"; $(MAKE) --no-print-directory $$step || exit 1; \
	done

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

vet: ## go vet
	$(GO) vet ./...
	cd deploy && $(GO) vet ./...

lint: $(LINT) ## golangci-lint, and what the worker's binary links
	$(LINT) run
	cd deploy && ../$(LINT) run
	@linked=$$($(GO) list -deps ./cmd/worker) || exit 1; \
	if echo "$$linked" | grep -E '/internal/testing/|^testing$$|testify|goleak|rapid'; then \
		echo "These packages are for tests and developers, but ./cmd/worker links them." >&2; exit 1; \
	fi

lint-models: $(MODEL_TOOLS) ## The models, forms and element templates, by the rules of Camunda 8.5 and later (needs Node 20 and Chromium)
	cd tools/models && npm run --silent lint

##@ Generated files

.PHONY: generate pictures
generate: ## Element templates, decision table, settings, metrics, expected schema, dashboard, licence list, and the chart's copies
	$(GO) test -count=1 ./bpmn ./internal/config ./internal/metrics -update
	$(GO) test -count=1 -run DecisionTable ./internal/policy -update
	$(GO) test -count=1 -run ExpectedSchema ./internal/audit/postgres -update
	cd deploy && $(GO) test -count=1 ./grafana ./image/thirdparty -update && $(GO) test -count=1 ./helm -update

pictures: $(MODEL_TOOLS) ## The pictures of the models, the forms and the dashboard, ten minutes (needs Node 20 and Chromium)
	cd tools/models && npm run --silent render && node steps.mjs
	$(GO) test ./test/e2e -count=1 -timeout 30m -run Dashboard -dashboard-answers=$(CURDIR)/.cache/dashboard-answers.json
	node tools/dashboard/render.mjs .cache/dashboard-answers.json

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
