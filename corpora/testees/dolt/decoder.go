package main

import (
	"runtime/debug"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// Dolt asks its own tables for what the log says of columns: here integers are signed, and strings as they are stored.
func hello() object {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == "github.com/dolthub/vitess" {
				version = strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return object{
		"name": "dolt", "version": version, "language": "Go", "levels": []string{"frames", "rows"},
		"forms": object{
			"integer": "number signed", "decimal": "text", "float": "value", "bits": "hex", "year": "text",
			"date": "text", "datetime": "text", "timestamp": "text", "time": "text", "enum": "number", "set": "number",
			"text": "hex", "bytes": "hex", "json": "none", "geometry": "hex",
		},
		"limits": []string{
			"it asks its tables for the types of columns: integers are compared as signed ones",
			"JSON is an SQL expression, which is not compared",
		},
	}
}

func cell(data []byte, pos int, table *mysql.TableMap, column int, _ bool) ([]byte, int, error) {
	found, size, err := mysql.CellValue(data, pos, table.Types[column], table.Metadata[column], fieldType(table.Types[column]))
	return found.Raw(), size, err
}

func partialValues(mysql.Row) mysql.Bitmap {
	return mysql.Bitmap{}
}

func gtid(event mysql.BinlogEvent, format mysql.BinlogFormat) error {
	_, _, err := event.GTID(format)
	return err
}

// What the package does not know, Dolt's replica passes over.
func (log *reader) showRest(mysql.BinlogEvent, int, int) error {
	return nil
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
