//go:build !linux

package main

// withoutExchange is the command: only Linux exchanges two names.
func withoutExchange() { main() }
