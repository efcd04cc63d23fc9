GO ?= go
TOOL = $(GO) tool -modfile=.ci/tools/go.mod

.PHONY: help build test lint lint-e2e golden check bench bench-fleet policy-mutants property fuzz kill e2e lab

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

build: ## build bin/meshgen
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/meshgen ./cmd/meshgen

test: ## run every test
	$(GO) test -timeout 15m ./...

lint: ## go vet, gofumpt and staticcheck; Rego is linted by the tests of policies
	$(GO) vet ./...
	@test -z "$$($(TOOL) gofumpt -l $$(git ls-files '*.go'))" || { $(TOOL) gofumpt -d $$(git ls-files '*.go'); exit 1; }
	$(TOOL) staticcheck ./...

# apart from lint and e2e: the first run goes through all of Istio and Kubernetes
lint-e2e: ## go vet and staticcheck of the modules in e2e
	$(GO) -C e2e vet ./...
	$(GO) -C e2e/argocd vet ./...
	$(GO) -C e2e tool -modfile=../.ci/tools/go.mod staticcheck ./...
	$(GO) -C e2e/argocd tool -modfile=../../.ci/tools/go.mod staticcheck ./...

golden: build ## write golden/ and the expected output that tests hold
	bin/meshgen render examples/clusters -o golden
	bin/meshgen render examples/fleet -o golden/fleet
	$(GO) test ./cmd/meshgen ./internal/report ./schema ./policies -update

check: lint test build ## what CI runs: lint, tests, a drift check by the product, tidy modules
	bin/meshgen render examples/clusters -o golden --check
	bin/meshgen render examples/fleet -o golden/fleet --check
	$(GO) mod tidy -diff
	$(GO) -C .ci/tools mod tidy -diff

bench: ## time the stages and the whole line
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-fleet: ## time render over 50 clusters against cue, helm, kustomize and conftest, which it builds once
	.ci/bench-fleet 50

policy-mutants: ## print what is deleted and bent of all that policies read, and what catches it
	$(GO) test ./policies -run TestNoMutantSurvives -count=1 -timeout 15m -v -mutants

property: ## play the plans of 1,000 random profiles on their worst day, with the loss that they survive
	$(GO) test ./internal/simulate -run TestPlansSurvive -count=1 -timeout 3h -v -profiles 1000

fuzz: ## run every fuzz function for FUZZTIME (20m) each, and print how often
	GO='$(GO)' FUZZTIME=$(or $(FUZZTIME),20m) .ci/fuzz $(FUZZFLAGS)

kill: ## kill 200 renders of 20 clusters at random moments, for each of the two ways to swap folders
	$(GO) test ./cmd/meshgen -run TestARenderThatIsKilled -count=1 -timeout 60m -v -kills 200

# -count=1: golden/ is outside of that module, where the test cache sees no change;
# -vet=off: that is lint-e2e's
e2e: ## what is rendered against the real parts of Istio, Kubernetes, KEDA, Helm and Prometheus; the first build takes long
	$(GO) -C e2e test -count=1 -vet=off -timeout 30m ./...
	$(GO) -C e2e/argocd test -count=1 -vet=off ./...

lab: ## measure a real istiod before and after the Sidecars of thousand, for as long as it takes; writes docs/lab.md
	$(GO) -C e2e test ./lab -run TestLab -count=1 -vet=off -timeout 0 -v -lab
	$(GO) test ./internal/lab -update
	@cat docs/lab.md
