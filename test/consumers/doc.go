// Package consumers holds small controllers that use the library the way event-manager, classifier and sveltos-agent
// do, and tests of them on a hub and two spokes of an inventory.
//
//	reports.go   what a report of a spoke is called on the hub
//	collector.go brings reports from the spokes to the hub, as event-manager and classifier do
//	classify.go  turns the reports of a Classifier into labels of clusters
//	stale.go     removes the reports of clusters that are gone
//	agent/       an agent that runs on the hub and looks after one cluster
//
// None of them knows more of the third cluster type than its name: that is what the tests are about.
package consumers
