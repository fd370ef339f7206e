//go:build !before_0_24

package main

import "vitess.io/vitess/go/mysql"

// What releases before 0.24 do not have.

func rowsQuery(event mysql.BinlogEvent, format mysql.BinlogFormat) error {
	if !event.IsRowsQuery() {
		return nil
	}
	_, err := event.RowsQuery(format)
	return err
}
