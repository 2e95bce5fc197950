#!/usr/bin/env bash
# Does what a cluster manager does: puts the spoke's kubeconfig into a Secret of the hub and writes its inventory
# ClusterProfile, with ControlPlaneHealthy=False. Pods of the hub reach the spoke by the name of its node.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
parse "usage: register.sh [--dry-run]" "$@"
need kind kubectl

say "the spoke's kubeconfig, as the hub's pods can use it, in a Secret"
run mkdir -p "$STATE"
(umask 077 && save "$STATE/spoke.kubeconfig" kind get kubeconfig --internal --name "$SPOKE")
hub create namespace fleet
hub --namespace fleet create secret generic spoke-1-kubeconfig --from-file=kubeconfig="$STATE/spoke.kubeconfig"

say "the inventory ClusterProfile, not healthy yet"
ca=$(out CA_OF_THE_SPOKE kubectl --kubeconfig "$STATE/spoke.kubeconfig" config view --raw \
  --output 'jsonpath={.clusters[0].cluster.certificate-authority-data}')
stdin_to "apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ClusterProfile
metadata:
  name: spoke-1
  namespace: fleet
  labels: {env: demo}
spec:
  displayName: spoke-1
  clusterManager: {name: kind}" kubectl --context "kind-$HUB" apply --filename -
hub --namespace fleet patch clusterprofiles.multicluster.x-k8s.io spoke-1 --subresource status --type merge --patch "
status:
  conditions:
  - {type: ControlPlaneHealthy, status: 'False', reason: Registered, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}
  accessProviders:
  - name: kubeconfig-secretreader
    cluster:
      server: https://$SPOKE-control-plane:6443
      certificate-authority-data: $ca
      extensions:
      - name: client.authentication.k8s.io/exec
        extension: {namespace: fleet, name: spoke-1-kubeconfig, key: kubeconfig}"
