# Everything a contributor types. Go alone is needed; `make check` also needs a C compiler, because
# the race detector does.

BIN  ?= bin
DATA ?= .writ
# Extra flags for every go test, and the benchmarks to run.
GOTESTFLAGS ?=
BENCH ?= .

TOOL := go tool -modfile=tools.mod
BUF  := $(TOOL) buf
# Packages that only exist as WebAssembly.
WASM := ./plugins/readers/... ./plugins/normalizers/... ./plugins/assemblers/...

.PHONY: help build run test check bench generate baseline clean \
	check-format check-modules check-vet check-schemas check-generated check-staticcheck check-race

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

build: ## build the WASM modules, the adapters, their lock and bin/writ
	go run ./plugins/build -out $(BIN) -writ

run: build ## research this repository's own documents and print the dossier
	$(BIN)/writ research --data $(DATA) \
		--question "What may a plugin do, and what keeps it from doing more?" \
		--perspective "An operator who decides whether to run Writ" \
		--perspective "A security reviewer who looks for the limits of the sandbox" \
		--source README.md:1-80 --source SECURITY.md:1-40

test: ## run every test
	go test $(GOTESTFLAGS) ./...
	cd abi/guest && go test $(GOTESTFLAGS) ./...

check: check-format check-modules check-vet check-schemas check-generated check-staticcheck check-race ## run every check a change must pass

check-format:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt -w needed:"; echo "$$files"; exit 1; fi

check-modules:
	go mod tidy -diff
	go mod verify
	cd abi/guest && go mod tidy -diff

check-vet:
	go vet ./...
	GOOS=wasip1 GOARCH=wasm go vet $(WASM)
	cd abi/guest && go vet ./... && GOOS=wasip1 GOARCH=wasm go vet ./...

# The image is compared as a whole, because buf compares a workspace module by module.
check-schemas:
	$(BUF) lint --config abi/buf.yaml
	image=$$(mktemp) && trap 'rm -f "$$image"' EXIT && \
	$(BUF) build --config abi/buf.yaml -o "$$image#format=binpb" && \
	$(BUF) breaking "$$image#format=binpb" --config '{"version":"v2","breaking":{"use":["FILE"]}}' --against .ci/schemas.binpb

check-generated:
	.ci/generated

check-staticcheck:
	$(TOOL) staticcheck ./...
	GOOS=wasip1 GOARCH=wasm "$$($(TOOL) -n staticcheck)" $(WASM)
	checker=$$($(TOOL) -n staticcheck) && cd abi/guest && "$$checker" ./...

# Two packages at a time: many of them start subprocesses of their own.
check-race:
	CGO_ENABLED=1 go test -race -p 2 -timeout 20m $(GOTESTFLAGS) ./...
	cd abi/guest && CGO_ENABLED=1 go test -race $(GOTESTFLAGS) ./...

bench: ## run the benchmarks (BENCH=regexp narrows them)
	go test -run '^$$' -bench '$(BENCH)' -benchmem -p 1 ./...

generate: ## regenerate the code of every schema in place
	.ci/generated --write

baseline: ## at a release: renew the schemas that later changes must not break
	$(BUF) build --config abi/buf.yaml --exclude-source-info -o .ci/schemas.binpb

clean: ## remove build output; data directories stay
	rm -rf $(BIN)
