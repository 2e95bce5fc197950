# `make help` lists the targets. Nothing but Go is needed; the first run builds what it
# needs from Go modules into bin/ and build/, which git ignores.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BUILD := go run ./internal/test/helpers/build
UPSTREAM := upstream.projectsveltos.io/libsveltos
TOOL := go tool -modfile=hack/tools/go.mod
# Suites that start API servers share two cores with them: one package at a time is not slower.
GOTEST ?= go test -p 2 -timeout 30m

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## The main job on real parts: an add-on reaches an inventory ClusterProfile. ARGS=--keep leaves it running.
	@go run ./hack/demo $(ARGS)

.PHONY: test
test: binaries ## Unit tests and envtest suites with -race, and upstream's own tests on this tree.
	$(GOTEST) -race ./...
	$(GOTEST) $(foreach p,template predicates sharding licenses lua mgmtagent set,$(UPSTREAM)/lib/$(p))

.PHONY: e2e
e2e: binaries ## The real addon-controller on a hub and spokes, as tests.
	$(GOTEST) -count=1 -v -tags e2e ./test/e2e/...

.PHONY: bench
bench: ## Measure beside the peers: lines "bench: NAME ours=X theirs=Y ratio=R".
	$(GOTEST) -count=1 -v -tags bench ./test/bench/... | grep -E '^(bench:|---|FAIL|ok|panic)' 

.PHONY: bench-fleet
bench-fleet: binaries ## 200 clusters through the real addon-controller, inventory beside SveltosClusters; in minutes (FLEET, FLEET_PROFILES: another size).
	$(GOTEST) -count=1 -v -timeout 3h -tags e2e,bench -run TestFleet ./test/e2e/... | grep -E '^(bench:|---|FAIL|ok|panic|  )'

.PHONY: upstream-tests
upstream-tests: binaries ## addon-controller's own unit tests before (stock, upstream's library) and after hack/upgrade; takes half an hour.
	@for variant in addon-controller-stock addon-controller; do \
		$(BUILD) -source $$variant; \
		echo "== $$variant: its own tests"; \
		(cd build/$$variant && KUBEBUILDER_ASSETS=$(CURDIR)/bin NAMESPACE=projectsveltos \
			go test -mod=mod -p 1 -timeout 40m ./lib/... ./pkg/... ./controllers/... 2>&1 \
			| tee ../$$variant.tests | grep -E '^(ok|FAIL|---|panic|[^ ]+ +\[no test files\])' ) || true; \
	done; \
	summary() { grep -E '^(ok|FAIL|\?)' build/$$1.tests | awk '{ print $$1, $$2 }' | sort -u; }; \
	diff <(summary addon-controller-stock) <(summary addon-controller) && echo "the same result before and after hack/upgrade"

.PHONY: binaries
binaries: ## Build the test binaries (kube-apiserver, etcd, credential plugins) into bin/.
	@$(BUILD) binaries

.PHONY: generate
generate: ## Write what is generated: the forwards of upstream, the inventory CRD.
	go run ./hack/forward
	go run ./hack/crd

.PHONY: verify
verify: ## Fail if something is stale, unformatted or suspicious to vet.
	go run ./hack/forward -check
	go run ./hack/crd -check
	@unformatted=$$(gofmt -l api cmd config docs hack internal lib test); test -z "$$unformatted" || { echo "not gofmt'ed: $$unformatted"; exit 1; }
	go mod verify >/dev/null
	go mod tidy -diff
	go vet ./...
	go vet -tags e2e,bench ./test/e2e ./test/bench

.PHONY: lint
lint: ## Run the linters, the architecture rules among them.
	$(TOOL) golangci-lint run ./...

.PHONY: fuzz
fuzz: ## Feed arbitrary status to the resolver for a minute.
	go test -run '^$$' -fuzz FuzzResolve -fuzztime 60s ./lib/inventory

.PHONY: clean
clean: ## Remove what was built.
	rm -rf bin build
