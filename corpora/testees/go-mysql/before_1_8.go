//go:build before_1_8

package main

import (
	"reflect"

	"github.com/go-mysql-org/go-mysql/replication"
)

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
