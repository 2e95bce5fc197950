// Package unstructured is a stand-in with what the fixtures use.
package unstructured

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Unstructured is an object of any kind.
type Unstructured struct{ metav1.Meta }

// DeepCopy copies the object.
func (u *Unstructured) DeepCopy() *Unstructured { c := *u; return &c }
