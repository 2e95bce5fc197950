module sigs.k8s.io/cluster-inventory-api

go 1.26.0

require k8s.io/apimachinery v0.0.0
