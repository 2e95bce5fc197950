#!/usr/bin/env bash
# Removes the two clusters and what the other scripts wrote.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
parse "usage: down.sh [--dry-run]" "$@"
need kind

run kind delete cluster --name "$SPOKE"
run kind delete cluster --name "$HUB"
run rm -rf "$STATE"
