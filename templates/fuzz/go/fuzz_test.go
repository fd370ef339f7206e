// A fuzz target for go-mysql's binlog parser; to try yours, put it into the place of read.
//
//	go mod tidy && go test -fuzz FuzzBinlog -fuzztime 60s
//
// An error is fine. A panic, a log that takes over ten seconds, and memory beyond 1 GiB are not.
package fuzz

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/replication"
)

const (
	longest = 10 * time.Second
	most    = 1 << 30
)

func read(log []byte) error {
	if len(log) < 4 {
		return nil
	}
	parser := replication.NewBinlogParser()
	return parser.ParseReader(bytes.NewReader(log[4:]), func(*replication.BinlogEvent) error { return nil })
}

func FuzzBinlog(f *testing.F) {
	f.Fuzz(func(t *testing.T, log []byte) {
		watch := time.AfterFunc(longest, func() { panic("the log takes longer than 10 s") })
		defer watch.Stop()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read(log)
		runtime.ReadMemStats(&after)
		if err != nil && strings.Contains(err.Error(), "rows event panic") {
			t.Fatal(err) // It catches its own panics while it reads rows.
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > most {
			t.Fatalf("a log of %d bytes takes %d bytes of memory", len(log), taken)
		}
	})
}
