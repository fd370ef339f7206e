//go:build older

package main

import "github.com/go-mysql-org/go-mysql/replication"

// Older releases lack some of what is asked for.
func ask(replication.Event) {}
