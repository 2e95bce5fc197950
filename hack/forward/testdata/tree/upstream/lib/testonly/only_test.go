package testonly

var Exported int
