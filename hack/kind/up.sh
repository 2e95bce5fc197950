#!/usr/bin/env bash
# Makes a hub and a spoke with Kind, installs Sveltos with the upgraded addon-controller on the hub, and registers the
# spoke in the inventory, not healthy yet. Then ./deliver.sh shows the delivery and ./down.sh removes all of it.
#
#   ./up.sh             needs go, docker, kind and kubectl
#   ./up.sh --dry-run   prints the commands and runs none
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
parse "usage: up.sh [--dry-run]" "$@"
need go docker kind kubectl
export DRY_RUN

"$HERE/image.sh"

say "two clusters"
run kind create cluster --name "$HUB"
run kind create cluster --name "$SPOKE"
run kind load docker-image --name "$HUB" "$CONTROLLER_IMAGE"

say "Sveltos with addon-controller upgraded: its image, the flag, the provider file and the plugin, and the RBAC"
say "left out: ServiceMonitors, whose CRD Kind has not, and the controllers that do not know the flag"
run mkdir -p "$STATE/overlay"
stdin_to "apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- $SVELTOS_MANIFEST
- ../../../config/default
components:
- ../../../config/samples/kubeconfig-secretreader
- ../../../config/components/provider-file
- ../../../config/components/plugin-init-container
images:
- name: docker.io/projectsveltos/addon-controller
  newName: ${CONTROLLER_IMAGE%:*}
  newTag: ${CONTROLLER_IMAGE##*:}
patches:
- target: {kind: ServiceMonitor}
  patch: &delete '{\"\$patch\": delete, apiVersion: any, kind: any, metadata: {name: any}}'
- target: {kind: Deployment, name: classifier-manager|event-manager|access-manager|hc-manager}
  patch: *delete" tee "$STATE/overlay/kustomization.yaml"
hub apply --server-side --force-conflicts --kustomize "$STATE/overlay"
hub --namespace projectsveltos rollout status deployment/addon-controller --timeout=5m

"$HERE/register.sh"
