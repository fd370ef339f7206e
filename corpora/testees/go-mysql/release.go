//go:build !before_1_8

package main

import (
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/replication"
)

// What releases before 1.8 do not have.

func configure(parser *replication.BinlogParser, flavor string) {
	parser.SetFlavor(flavor)
	parser.SetVerifyChecksum(true)
	parser.SetTimestampStringLocation(time.UTC)
}

func eventsWithin(event *replication.BinlogEvent) []*replication.BinlogEvent {
	if payload, ok := event.Event.(*replication.TransactionPayloadEvent); ok {
		return payload.Events
	}
	return nil
}

func otherValue(found any) any {
	step, ok := found.(*replication.JsonDiff)
	if !ok {
		return found
	}
	diff := object{"operation": strings.ToUpper(step.Op.String()), "path": step.Path}
	if step.Op != replication.JsonDiffOperationRemove {
		diff["value"] = step.Value
	}
	return []object{diff}
}

func skippedColumns(rows *replication.RowsEvent, row int) []int {
	return rows.SkippedColumns[row]
}
