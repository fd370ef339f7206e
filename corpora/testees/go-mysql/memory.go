//go:build linux

package main

import "syscall"

// A length of 4 GiB that is believed ends the program each time, not only when the runtime touches what it allocates.
func init() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) == nil && limit.Cur > 3<<30 {
		limit.Cur = 3 << 30
		syscall.Setrlimit(syscall.RLIMIT_AS, &limit)
	}
}
