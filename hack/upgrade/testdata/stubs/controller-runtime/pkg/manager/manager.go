// Package manager is a stand-in with what the fixtures call.
package manager

import "sigs.k8s.io/controller-runtime/pkg/client"

// Manager runs controllers.
type Manager interface{ GetClient() client.Client }
