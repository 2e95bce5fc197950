#!/usr/bin/env bash
# Selects the spoke by label, shows that nothing is deployed while it is not healthy, reports it healthy, and waits for
# the add-on on it. Run ./up.sh first.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
parse "usage: deliver.sh [--dry-run]" "$@"
need kubectl

say "an add-on and the clusters it is for"
stdin_to "apiVersion: v1
kind: ConfigMap
metadata: {name: hello-policy, namespace: default}
data:
  configmap.yaml: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: hello, namespace: default}
    data: {greeting: hello from the hub}
---
apiVersion: config.projectsveltos.io/v1beta1
kind: ClusterProfile
metadata: {name: deploy-hello}
spec:
  clusterSelector: {matchLabels: {env: demo}}
  policyRefs:
  - {kind: ConfigMap, namespace: default, name: hello-policy}" kubectl --context "kind-$HUB" apply --filename -
wait_for "addon-controller to take up deploy-hello" kubectl --context "kind-$HUB" wait --timeout=5s \
  '--for=jsonpath={.metadata.finalizers}' clusterprofiles.config.projectsveltos.io/deploy-hello

say "nothing is deployed yet"
hub --namespace fleet get clustersummaries.config.projectsveltos.io

say "the cluster manager reports ControlPlaneHealthy=True"
hub --namespace fleet patch clusterprofiles.multicluster.x-k8s.io spoke-1 --subresource status --type merge --patch "
status:
  conditions:
  - {type: ControlPlaneHealthy, status: 'True', reason: Reported, message: '', lastTransitionTime: '2026-01-01T00:01:00Z'}"

say "the add-on is on the spoke, and no SveltosCluster stands for it"
wait_for "ConfigMap default/hello on the spoke" kubectl --context "kind-$SPOKE" --namespace default get configmap hello
spoke --namespace default get configmap hello --output yaml
hub --namespace fleet get clustersummaries.config.projectsveltos.io,sveltosclusters.lib.projectsveltos.io
