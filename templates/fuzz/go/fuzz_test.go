// A fuzz target for go-mysql's binlog parser; to try yours, put it into the place of read.
//
//	go mod tidy && go test -fuzz FuzzBinlog -fuzztime 60s
//
// go test alone tells all seeds that it fails at.
//
// An error is fine, but for an unchanged seed of rows.txt, which has that many rows. A panic, a log that takes over ten
// seconds, and memory beyond 1 GiB are not.
package fuzz

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/replication"
)

const (
	longest = 10 * time.Second
	most    = 1 << 30
)

// read gives the number of rows in a log, or an error.
func read(log []byte) (rows int, err error) {
	if len(log) < 4 {
		return 0, nil
	}
	parser := replication.NewBinlogParser()
	err = parser.ParseReader(bytes.NewReader(log[4:]), func(event *replication.BinlogEvent) error {
		rows += rowsOf(event)
		return nil
	})
	return rows, err
}

func rowsOf(event *replication.BinlogEvent) (rows int) {
	switch data := event.Event.(type) {
	case *replication.RowsEvent:
		rows = len(data.Rows)
		switch event.Header.EventType {
		case replication.UPDATE_ROWS_EVENTv0, replication.UPDATE_ROWS_EVENTv1, replication.UPDATE_ROWS_EVENTv2,
			replication.PARTIAL_UPDATE_ROWS_EVENT, replication.MARIADB_UPDATE_ROWS_COMPRESSED_EVENT_V1:
			rows /= 2 // The images before and after.
		}
	case *replication.TransactionPayloadEvent:
		for _, inner := range data.Events {
			rows += rowsOf(inner)
		}
	}
	return rows
}

// seeds has the rows of each seed, by its FNV-1a.
var seeds = sync.OnceValue(func() map[string]int {
	text, _ := os.ReadFile("rows.txt")
	found := map[string]int{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		found[words[0]], _ = strconv.Atoi(words[1])
	}
	return found
})

func FuzzBinlog(f *testing.F) {
	f.Fuzz(func(t *testing.T, log []byte) {
		watch := time.AfterFunc(longest, func() { panic("the log takes longer than 10 s") })
		defer watch.Stop()
		defer func() {
			if what := recover(); what != nil {
				t.Fatalf("panic: %v\n%s", what, debug.Stack())
			}
		}()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows, err := read(log)
		runtime.ReadMemStats(&after)
		if err != nil && strings.Contains(err.Error(), "rows event panic") {
			t.Fatalf("%.600s", err) // It catches its own panics while it reads rows.
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > most {
			t.Fatalf("a log of %d bytes takes %d bytes of memory", len(log), taken)
		}
		hash := fnv.New64a()
		hash.Write(log)
		if right, ok := seeds()[fmt.Sprintf("%016x", hash.Sum64())]; ok && err != nil {
			t.Fatalf("a correct log is refused: %.600s", err)
		} else if ok && rows != right {
			t.Fatalf("a correct log gives %d rows, there are %d", rows, right)
		}
	})
}
