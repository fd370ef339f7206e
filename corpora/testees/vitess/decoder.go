package main

import (
	"errors"
	"io"
	"runtime/debug"
	"strings"

	"vitess.io/vitess/go/mysql"
	"vitess.io/vitess/go/mysql/binlog"
	querypb "vitess.io/vitess/go/vt/proto/query"
)

// Vitess asks the server for what the log says of columns: here integers are signed, and strings as they are stored.
func hello() object {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == "vitess.io/vitess" {
				version = strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return object{
		"name": "vitess", "version": version, "language": "Go", "levels": []string{"frames", "rows"},
		"forms": object{
			"integer": "number signed", "decimal": "text", "float": "value", "bits": "hex", "year": "text",
			"date": "text", "datetime": "text", "timestamp": "text", "time": "text", "enum": "number", "set": "number",
			"text": "hex", "bytes": "hex", "json": "value", "geometry": "hex", "vector": "hex", "diffs": "none",
		},
		"limits": []string{
			"it asks the server for the types of columns: integers are compared as signed ones",
			"partial updates of JSON are SQL expressions, which are not compared",
		},
	}
}

func cell(data []byte, pos int, table *mysql.TableMap, column int, partial bool) ([]byte, int, error) {
	field := &querypb.Field{Type: fieldType(table.Types[column])}
	found, size, err := binlog.CellValue(data, pos, table.Types[column], table.Metadata[column], field, partial)
	return found.Raw(), size, err
}

func partialValues(row mysql.Row) mysql.Bitmap {
	return row.JSONPartialValues
}

func gtid(event mysql.BinlogEvent, format mysql.BinlogFormat) error {
	_, _, _, _, err := event.GTID(format)
	return err
}

func (log *reader) showRest(event mysql.BinlogEvent, offset, inner int) error {
	switch {
	case event.IsPartialUpdateRows():
		return log.rows(event, "update", offset, inner)
	case event.IsTransactionPayload():
		payload, err := event.TransactionPayload(log.format)
		if err != nil {
			return err
		}
		defer payload.Close()
		for number := 1; ; number++ {
			within, err := payload.GetNextEvent()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = log.show(within, offset, number)
			}
			if err != nil {
				return err
			}
		}
	}
	return rowsQuery(event, log.format)
}

func fieldType(kind byte) querypb.Type {
	switch kind {
	case typeTiny:
		return querypb.Type_INT8
	case typeShort:
		return querypb.Type_INT16
	case typeInt24:
		return querypb.Type_INT24
	case typeLong:
		return querypb.Type_INT32
	case typeLongLong:
		return querypb.Type_INT64
	}
	return querypb.Type_VARCHAR
}
