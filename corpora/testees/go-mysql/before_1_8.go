//go:build before_1_8

package main

import (
	"reflect"
	"time"

	"github.com/go-mysql-org/go-mysql/replication"
)

// What releases before 1.0 have of it.
func configure(parser any, flavor string) {
	if known, ok := parser.(interface{ SetFlavor(string) }); ok {
		known.SetFlavor(flavor)
	}
	if known, ok := parser.(interface{ SetVerifyChecksum(bool) }); ok {
		known.SetVerifyChecksum(true)
	}
	if known, ok := parser.(interface{ SetTimestampStringLocation(*time.Location) }); ok {
		known.SetTimestampStringLocation(time.UTC)
	}
}

func eventsWithin(*replication.BinlogEvent) []*replication.BinlogEvent {
	return nil
}

func otherValue(found any) any {
	return found
}

// The first releases do not have the field.
func skippedColumns(rows *replication.RowsEvent, row int) []int {
	skipped := reflect.ValueOf(rows).Elem().FieldByName("SkippedColumns")
	if !skipped.IsValid() || row >= skipped.Len() {
		return nil
	}
	return skipped.Index(row).Interface().([]int)
}
