package names

import "testing"

func TestNames(t *testing.T) {
	if SummaryName("p", "a", "b", false) == SummaryName("p", "a", "b", true) {
		t.Fatal("one name for two clusters")
	}
	if label("a", true) == label("a", false) {
		t.Fatal("one label for two clusters")
	}
}
