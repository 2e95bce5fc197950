// Command tool cannot be imported.
package main

func main() {}
