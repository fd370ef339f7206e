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

// What follows the columns' types, and the times of a GTID, are worked out when their user asks for them.  Lists that
// are too short for their columns end in a panic there; the rows are shown all the same.
func ask(body replication.Event) {
	defer func() { _ = recover() }()
	switch body := body.(type) {
	case *replication.TableMapEvent:
		for column := range body.ColumnType {
			body.Nullable(column)
			body.IsCharacterColumn(column)
		}
		body.ColumnNameString()
		body.SetStrValueString()
		body.EnumStrValueString()
		body.UnsignedMap()
		body.CollationMap()
		body.EnumSetCollationMap()
		body.EnumStrValueMap()
		body.SetStrValueMap()
		body.GeometryTypeMap()
		body.VisibilityMap()
	case *replication.GTIDEvent:
		askGTID(body)
	case *replication.GtidTaggedLogEvent:
		askGTID(&body.GTIDEvent)
	case *replication.MariadbGTIDEvent:
		body.GTIDNext()
		body.IsDDL()
		body.IsStandalone()
		body.IsGroupCommit()
	case *replication.RowsEvent:
		body.Type()
	}
}

func askGTID(body *replication.GTIDEvent) {
	body.GTIDNext()
	body.ImmediateCommitTime()
	body.OriginalCommitTime()
}
