#!/usr/bin/env bash
# Upgrades addon-controller v1.14.0 with hack/upgrade, builds it, and makes a container image of it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
parse "usage: image.sh [--dry-run]" "$@"
need go docker

say "upgrade addon-controller and build it for linux"
run mkdir -p "$STATE/image"
run go -C "$ROOT" run ./internal/test/helpers/build -source addon-controller
run env CGO_ENABLED=0 GOOS=linux go -C "$ROOT/build/addon-controller" build -trimpath -o "$STATE/image/manager" ./cmd

say "make the image $CONTROLLER_IMAGE"
stdin_to 'FROM gcr.io/distroless/static:nonroot
COPY manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]' docker build --tag "$CONTROLLER_IMAGE" --file - "$STATE/image"
