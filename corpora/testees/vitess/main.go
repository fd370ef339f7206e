// A testee of Vitess' package mysql: its binlog events over files, in the protocol of docs/conform.md.
//
// The events are read as Vitess' vstreamer reads them.  What differs in Dolt's fork of the package is in decoder.go.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"vitess.io/vitess/go/mysql"
)

type object = map[string]any

type request struct {
	ID     int    `json:"id"`
	Hello  int    `json:"hello"`
	File   string `json:"file"`
	Level  string `json:"level"`
	Flavor string `json:"flavor"`
}

const magic = "\xfebin"
const headerSize = 19

// Types whose values are numbers in the answers, and bytes.
const (
	typeTiny, typeShort, typeLong, typeFloat, typeDouble = 1, 2, 3, 4, 5
	typeLongLong, typeInt24, typeBit                     = 8, 9, 16
	typeJSON, typeEnum, typeSet, typeBlob, typeString    = 245, 247, 248, 252, 254
	typeVector, typeVarchar, typeVarString, typeGeometry = 242, 15, 253, 255
)

var answers *bufio.Writer

func answer(line object) {
	data, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	answers.Write(append(data, '\n'))
}

func text(data string) any {
	if utf8.ValidString(data) {
		return data
	}
	return object{"hex": hex.EncodeToString([]byte(data))}
}

// The value of one cell as it is printed, and its length.
func spelled(data []byte, pos int, table *mysql.TableMap, column int, partial bool) (any, int, error) {
	found, size, err := cell(data, pos, table, column, partial)
	if err != nil {
		return nil, 0, err
	}
	kind := table.Types[column]
	if kind == typeString && table.Metadata[column]>>8 == typeEnum || kind == typeString && table.Metadata[column]>>8 == typeSet {
		kind = typeLong
	}
	switch kind {
	case typeTiny, typeShort, typeInt24, typeLong, typeLongLong, typeEnum:
		return json.Number(found), size, nil
	case typeBit, typeSet, typeBlob, typeVector, typeGeometry, typeString, typeVarchar, typeVarString:
		return hex.EncodeToString(found), size, nil
	case typeJSON:
		if partial {
			return object{"none": string(found)}, size, nil
		}
	}
	return text(string(found)), size, nil
}

func image(table *mysql.TableMap, present, nulls, partial mysql.Bitmap, data []byte) ([]object, error) {
	cells := []object{}
	pos, value, document := 0, 0, 0
	for column := 0; column < present.Count(); column++ {
		if !present.Bit(column) {
			continue
		}
		isPartial := false
		if table.Types[column] == typeJSON && partial.Count() > 0 {
			isPartial = partial.Bit(document)
			document++
		}
		isNull := nulls.Bit(value)
		value++
		if isNull {
			cells = append(cells, object{"column": column + 1, "value": nil})
			continue
		}
		shown, size, err := spelled(data, pos, table, column, isPartial)
		if err != nil {
			return nil, err
		}
		cells = append(cells, object{"column": column + 1, "value": shown})
		pos += size
	}
	return cells, nil
}

type reader struct {
	level  string
	format mysql.BinlogFormat
	tables map[uint64]*mysql.TableMap
}

func (log *reader) rows(event mysql.BinlogEvent, kind string, offset, inner int) error {
	table, ok := log.tables[event.TableID(log.format)]
	if !ok {
		return fmt.Errorf("no table map %d", event.TableID(log.format))
	}
	rows, err := event.Rows(log.format, table)
	if err != nil || log.level != "rows" {
		return err
	}
	for _, row := range rows.Rows {
		shown := object{
			"offset": offset, "inner": inner, "kind": kind, "database": text(table.Database), "table": text(table.Name),
			"before": nil, "after": nil,
		}
		if kind != "insert" {
			before, err := image(table, rows.IdentifyColumns, row.NullIdentifyColumns, mysql.Bitmap{}, row.Identify)
			if err != nil {
				return err
			}
			shown["before"] = before
		}
		if kind != "delete" {
			after, err := image(table, rows.DataColumns, row.NullColumns, partialValues(row), row.Data)
			if err != nil {
				return err
			}
			shown["after"] = after
		}
		answer(object{"row": shown})
	}
	return nil
}

func (log *reader) show(raw mysql.BinlogEvent, offset, inner int) error {
	if !raw.IsValid() {
		return errors.New("the event is not valid")
	}
	if log.level == "frames" {
		bytes := raw.(interface{ Bytes() []byte }).Bytes() // The interface of old releases does not have it.
		answer(object{"frame": object{
			"offset": offset, "inner": inner, "type_code": bytes[4], "event_size": binary.LittleEndian.Uint32(bytes[9:]),
			"log_pos": binary.LittleEndian.Uint32(bytes[13:]), "timestamp": raw.Timestamp(),
			"server_id": binary.LittleEndian.Uint32(bytes[5:]),
		}})
	}
	if raw.IsFormatDescription() {
		format, err := raw.Format()
		log.format = format
		return err
	}
	if log.format.IsZero() {
		return errors.New("an event before FORMAT_DESCRIPTION")
	}
	event := raw
	if inner == 0 {
		stripped, _, err := raw.StripChecksum(log.format)
		if err != nil {
			return err
		}
		event = stripped
	}
	switch {
	case event.IsGTID():
		return gtid(event, log.format)
	case event.IsPreviousGTIDs():
		_, err := event.PreviousGTIDs(log.format)
		return err
	case event.IsQuery():
		_, err := event.Query(log.format)
		return err
	case event.IsIntVar():
		_, _, err := event.IntVar(log.format)
		return err
	case event.IsRand():
		_, _, err := event.Rand(log.format)
		return err
	case event.IsTableMap():
		table, err := event.TableMap(log.format)
		log.tables[event.TableID(log.format)] = table
		return err
	case event.IsWriteRows():
		return log.rows(event, "insert", offset, inner)
	case event.IsUpdateRows():
		return log.rows(event, "update", offset, inner)
	case event.IsDeleteRows():
		return log.rows(event, "delete", offset, inner)
	}
	return log.showRest(event, offset, inner)
}

func (log *reader) file(asked request) error {
	file, err := os.Open(asked.File)
	if err != nil {
		return err
	}
	defer file.Close()
	data := bufio.NewReaderSize(file, 1<<16)
	if start, err := data.Peek(len(magic)); err != nil || string(start) != magic {
		return errors.New("not a binary log")
	}
	data.Discard(len(magic))
	about, err := file.Stat()
	if err != nil {
		return err
	}
	for offset, end := len(magic), int(about.Size()); offset < end; {
		size := 0
		if header, err := data.Peek(headerSize); err == nil {
			size = int(binary.LittleEndian.Uint32(header[9:]))
		}
		if size < headerSize || size > end-offset {
			return fmt.Errorf("no whole event at %d", offset)
		}
		raw := make([]byte, size)
		if _, err := io.ReadFull(data, raw); err != nil {
			return err
		}
		event := mysql.NewMysql56BinlogEvent(raw)
		if asked.Flavor == "mariadb" {
			event = mysql.NewMariadbBinlogEvent(raw)
		}
		if err := log.show(event, offset, 0); err != nil {
			return err
		}
		offset += size
	}
	return nil
}

func read(asked request) (end object) {
	end = object{"id": asked.ID, "end": "ok"}
	defer func() {
		if reason := recover(); reason != nil {
			end["end"], end["message"] = "crashed", shortened(fmt.Sprint("panic: ", reason))
		}
	}()
	log := reader{level: asked.Level, tables: map[uint64]*mysql.TableMap{}}
	if err := log.file(asked); err != nil {
		end["end"], end["message"] = "refused", shortened(err.Error())
	}
	return end
}

func shortened(message string) string {
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
