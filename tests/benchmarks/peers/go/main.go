// Decodes one binary log with go-mysql for every line that it reads and prints what it cost, one JSON object a line.
//
// peer FILE
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/go-mysql-org/go-mysql/replication"
)

type cost struct {
	Rows int     `json:"rows"`
	Wall float64 `json:"wall"`
	CPU  float64 `json:"cpu"`
}

func processor() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// images counts the row images of an event: an UPDATE has two for each row.
func images(event *replication.BinlogEvent) int {
	switch body := event.Event.(type) {
	case *replication.RowsEvent:
		return len(body.Rows)
	case *replication.TransactionPayloadEvent:
		count := 0
		for _, inner := range body.Events {
			count += images(inner)
		}
		return count
	}
	return 0
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		parser := replication.NewBinlogParser()
		parser.SetVerifyChecksum(true)
		count := 0
		began, before := time.Now(), processor()
		err := parser.ParseFile(os.Args[1], 0, func(event *replication.BinlogEvent) error {
			count += images(event)
			return nil
		})
		if err != nil {
			fail(err)
		}
		if err := out.Encode(cost{count, time.Since(began).Seconds(), processor() - before}); err != nil {
			fail(err)
		}
	}
}
