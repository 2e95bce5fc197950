module github.com/projectsveltos/libsveltos

go 1.26.0

require k8s.io/api v0.0.0

require k8s.io/apimachinery v0.0.0

require sigs.k8s.io/controller-runtime v0.0.0

require sigs.k8s.io/cluster-inventory-api v0.0.0

replace upstream.projectsveltos.io/libsveltos => github.com/projectsveltos/libsveltos v1.14.0
