// A testee of go-mysql: its BinlogParser over files, in the protocol of docs/conform.md.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"
)

const module = "github.com/go-mysql-org/go-mysql"

type object = map[string]any

type request struct {
	ID     int    `json:"id"`
	Hello  int    `json:"hello"`
	File   string `json:"file"`
	Level  string `json:"level"`
	Flavor string `json:"flavor"`
}

// How go-mysql shows values: strings as they are stored, numbers signed, members by number.
var forms = object{
	"integer": "number", "decimal": "text", "float": "value", "bits": "number signed", "year": "number",
	"date": "text", "datetime": "text", "timestamp": "text", "time": "value", "enum": "number", "set": "number signed",
	"text": "utf8", "bytes": "utf8", "json": "value", "geometry": "hex", "vector": "hex", "diffs": "value",
}

const typeVector = 242

var answers *bufio.Writer

func answer(line object) {
	data, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	answers.Write(append(data, '\n'))
}

func hello() object {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				version = strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return object{"name": "go-mysql", "version": version, "language": "Go", "levels": []string{"frames", "rows"}, "forms": forms}
}

func text(data string) any {
	if utf8.ValidString(data) {
		return data
	}
	return object{"hex": hex.EncodeToString([]byte(data))}
}

func value(found any, kind byte) any {
	switch found := found.(type) {
	case string:
		return text(found)
	case []byte:
		if kind == mysql.MYSQL_TYPE_GEOMETRY || kind == typeVector {
			return hex.EncodeToString(found)
		}
		return text(string(found))
	case float32:
		return number(float64(found), found)
	case float64:
		return number(found, found)
	}
	return otherValue(found)
}

// JSON has no NaN and no infinity.
func number(wide float64, shown any) any {
	if math.IsNaN(wide) || math.IsInf(wide, 0) {
		return fmt.Sprint(shown)
	}
	return shown
}

func image(rows *replication.RowsEvent, row int) []object {
	skipped := map[int]bool{}
	for _, column := range skippedColumns(rows, row) {
		skipped[column] = true
	}
	cells := []object{}
	for column, found := range rows.Rows[row] {
		if !skipped[column] {
			cells = append(cells, object{"column": column + 1, "value": value(found, rows.Table.ColumnType[column])})
		}
	}
	return cells
}

func row(rows *replication.RowsEvent, kind string, before, after any, offset int64, inner int) {
	table := rows.Table
	answer(object{"row": object{
		"offset": offset, "inner": inner, "kind": kind, "database": text(string(table.Schema)),
		"table": text(string(table.Table)), "before": before, "after": after,
	}})
}

func show(event *replication.BinlogEvent, level string, offset int64, inner int) {
	header := event.Header
	if level == "frames" {
		answer(object{"frame": object{
			"offset": offset, "inner": inner, "type_code": header.EventType, "event_size": header.EventSize,
			"log_pos": header.LogPos, "timestamp": header.Timestamp, "server_id": header.ServerID,
		}})
	}
	ask(event.Event)
	switch body := event.Event.(type) {
	case *replication.RowsEvent:
		if level == "rows" {
			showRows(body, byte(header.EventType), offset, inner)
		}
	default:
		for number, within := range eventsWithin(event) {
			show(within, level, offset, number+1)
		}
	}
}

// The types of row events, with MariaDB's compressed ones.
const writeRowsV1, writeRows, writeRowsCompressed, writeRowsCompressedV1 = 23, 30, 169, 166
const deleteRowsV1, deleteRows, deleteRowsCompressed, deleteRowsCompressedV1 = 25, 32, 171, 168

func showRows(rows *replication.RowsEvent, code byte, offset int64, inner int) {
	switch code {
	case writeRowsV1, writeRows, writeRowsCompressed, writeRowsCompressedV1:
		for number := range rows.Rows {
			row(rows, "insert", nil, image(rows, number), offset, inner)
		}
	case deleteRowsV1, deleteRows, deleteRowsCompressed, deleteRowsCompressedV1:
		for number := range rows.Rows {
			row(rows, "delete", image(rows, number), nil, offset, inner)
		}
	default:
		for number := 0; number+1 < len(rows.Rows); number += 2 {
			row(rows, "update", image(rows, number), image(rows, number+1), offset, inner)
		}
	}
}

// A file that knows how far it was read.
type placed struct {
	from   *bufio.Reader
	offset int64
}

func (file *placed) Read(data []byte) (int, error) {
	count, err := file.from.Read(data)
	file.offset += int64(count)
	return count, err
}

func opened(asked request) (*os.File, error) {
	file, err := os.Open(asked.File)
	if err != nil {
		return nil, err
	}
	magic := make([]byte, len(replication.BinLogFileHeader))
	if _, err := io.ReadFull(file, magic); err != nil || string(magic) != string(replication.BinLogFileHeader) {
		file.Close()
		return nil, fmt.Errorf("not a binary log")
	}
	return file, nil
}

func read(asked request) (end object) {
	end = object{"id": asked.ID, "end": "ok"}
	defer func() {
		if reason := recover(); reason != nil {
			end["end"], end["message"] = "crashed", fmt.Sprint("panic: ", reason)
		}
	}()
	file, err := opened(asked)
	if err != nil {
		end["end"], end["message"] = "refused", err.Error()
		return end
	}
	defer file.Close()
	parser := replication.NewBinlogParser()
	configure(parser, asked.Flavor)
	rest := &placed{bufio.NewReaderSize(file, 1<<16), int64(len(replication.BinLogFileHeader))}
	for {
		offset := rest.offset
		done, err := parser.ParseSingleEvent(rest, func(event *replication.BinlogEvent) error {
			show(event, asked.Level, offset, 0)
			return nil
		})
		if err != nil {
			end["end"], end["message"] = "refused", shortened(err.Error())
			// It catches its own panics while it reads rows.
			if strings.Contains(err.Error(), "parse rows event panic") {
				end["end"] = "crashed"
			}
			return end
		}
		if done {
			return end
		}
	}
}

// What went wrong stands behind the event's header and all of its bytes.
func shortened(message string) string {
	if before := strings.LastIndex(message, "\", Err: "); before >= 0 {
		message = message[before+len("\", Err: "):]
	}
	if len(message) > 400 {
		message = message[:400]
	}
	return strings.ToValidUTF8(message, "?")
}

func main() {
	answers = bufio.NewWriterSize(os.Stdout, 1<<16)
	os.Stdout = os.Stderr // The library prints there.
	requests := bufio.NewReader(os.Stdin)
	for {
		line, err := requests.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		if asked.Hello > 0 {
			answer(object{"id": asked.ID, "hello": hello()})
		} else {
			answer(read(asked))
		}
		answers.Flush()
	}
}
