//go:build !older

package main

import "github.com/go-mysql-org/go-mysql/replication"

// What follows the columns' types, and the times of a GTID, are worked out when their user asks for them.
func ask(body replication.Event) {
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
