// Package kit holds a small reader of binary logs against the kit. Put your own reader in the place of Read.
package kit

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// Event is the header of an event. Offset is its place in the file.
type Event struct{ Offset, TypeCode, EventSize, LogPos, Timestamp, ServerID int64 }

// Cell is a value as its bytes in hex; nil is NULL. Columns count from 1.
type Cell struct {
	Column int
	Raw    *string
}

// Row is a changed row. An image that the event does not have is nil.
type Row struct {
	Offset                int64
	Kind, Database, Table string
	Before, After         []Cell
}

// Log is what a reader shows of a file. Rows of events in Skipped are not compared.
type Log struct {
	Events  []Event
	Rows    []Row
	Skipped map[int64]bool
}

type table struct {
	database, name string
	types          []byte
	metadata       [][]byte
}

func little(data []byte) (number int64) {
	for place := len(data) - 1; place >= 0; place-- {
		number = number<<8 | int64(data[place])
	}
	return number
}

// Read reads a file of that size. What it has read before an error is in the log all the same.
func Read(file io.ReaderAt, size int64) (log Log, err error) {
	defer func() { // Every slice of this reader is checked by Go: a length that leads too far ends here.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	log.Skipped = map[int64]bool{}
	bytesAt := func(offset, count int64) []byte {
		if offset+count > size {
			panic(fmt.Sprintf("%d bytes at %d lead beyond the end", count, offset))
		}
		data := make([]byte, count)
		if _, err := file.ReadAt(data, offset); err != nil {
			panic(err)
		}
		return data
	}
	if !bytes.Equal(bytesAt(0, 4), []byte("\xfebin")) {
		return log, fmt.Errorf("no binary log")
	}
	checksums, lengths, tables := false, [256]byte{}, map[int64]*table{}
	for offset := int64(4); offset < size; {
		size := little(bytesAt(offset+9, 4))
		if size < 19 {
			return log, fmt.Errorf("the event at %d has %d bytes", offset, size)
		}
		raw := bytesAt(offset, size)
		if raw[4] == 15 {
			checksums = hasChecksums(raw)
			copy(lengths[1:], raw[76:])
			raw[17] &^= 1 // The sum is that of a file which is not in use.
		}
		end := len(raw)
		if checksums {
			end -= 4
			if crc32.ChecksumIEEE(raw[:end]) != uint32(little(raw[end:])) {
				panic(fmt.Sprintf("the checksum of the event at %d is wrong", offset))
			}
		}
		body, position := raw[19:end], little(raw[13:17])
		log.Events = append(log.Events, Event{offset, int64(raw[4]), size, position, little(raw[:4]), little(raw[5:9])})
		fixed := max(int64(lengths[raw[4]]), 8+2*int64(raw[4]/30)) // What is more than usual is passed over.
		switch raw[4] {
		case 19:
			tables[little(body[:6])] = tableMap(body[fixed:])
		case 23, 24, 25, 30, 31, 32:
			log.rows(offset, raw[4], body, fixed, tables)
		default:
			log.Skipped[offset] = true
		}
		offset += size
	}
	return log, nil
}

func hasChecksums(raw []byte) bool {
	var major, minor, patch, first int = 0, 0, 0, 5006001
	fmt.Sscanf(string(raw[21:71]), "%d.%d.%d", &major, &minor, &patch)
	if bytes.Contains(raw[21:71], []byte("MariaDB")) {
		first = 5003000
	}
	return (major*1000+minor)*1000+patch >= first && raw[len(raw)-5] == 1
}

func packed(body []byte) (number int64, rest []byte) {
	if size := map[byte]int{252: 2, 253: 3, 254: 8}[body[0]]; size > 0 {
		return little(body[1 : 1+size]), body[1+size:]
	}
	return int64(body[0]), body[1:]
}

// metadataSizes has a type as often as it has bytes of metadata.
const metadataSizes = " 4  5  17  18  19  140  242  245  252  255  15  15  16  16  141  141  246  246  247  247  248  248  253  253  254  254 "

func tableMap(rest []byte) *table {
	database, rest := string(rest[1:1+rest[0]]), rest[2+rest[0]:]
	name, rest := string(rest[1:1+rest[0]]), rest[2+rest[0]:]
	count, rest := packed(rest)
	found := &table{database: database, name: name, types: rest[:count]}
	length, metadata := packed(rest[count:])
	metadata = metadata[:length]
	for _, kind := range found.types {
		if kind == 20 || kind == 244 {
			return found // The rows of such tables are not read here.
		}
		size := strings.Count(metadataSizes, fmt.Sprintf(" %d ", kind))
		found.metadata, metadata = append(found.metadata, metadata[:size]), metadata[size:]
	}
	return found
}

func (log *Log) rows(offset int64, kind byte, body []byte, fixed int64, tables map[int64]*table) {
	found, extra := tables[little(body[:6])], int64(0)
	if kind >= 30 {
		extra = little(body[8:10]) - 2
	}
	count, rest := packed(body[fixed+extra:])
	if found == nil || count != int64(len(found.types)) {
		panic("no table is mapped, or one with other columns")
	}
	if log.Skipped[offset] = len(found.metadata) < len(found.types); log.Skipped[offset] {
		return
	}
	first, rest := rest[:(count+7)/8], rest[(count+7)/8:]
	second := first
	if kind == 24 || kind == 31 {
		second, rest = rest[:len(first)], rest[len(first):]
	}
	for again := true; again; {
		row, before := Row{Offset: offset, Database: found.database, Table: found.name}, len(rest)
		row.Kind = []string{"insert", "update", "delete"}[kind%7-2]
		if row.Kind != "insert" {
			row.Before, rest = found.image(first, rest)
		}
		if row.Kind != "delete" {
			row.After, rest = found.image(second, rest)
		}
		log.Rows = append(log.Rows, row)
		again = len(rest) > 0 && len(rest) < before
	}
}

func (found *table) image(present, rest []byte) ([]Cell, []byte) {
	cells := []Cell{}
	for column := range found.types {
		if present[column/8]>>(column%8)&1 == 1 {
			cells = append(cells, Cell{Column: column + 1})
		}
	}
	nulls, rest := rest[:(len(cells)+7)/8], rest[(len(cells)+7)/8:]
	for number := range cells {
		if nulls[number/8]>>(number%8)&1 == 0 {
			at := cells[number].Column - 1
			size := width(found.types[at], found.metadata[at], rest)
			text := hex.EncodeToString(rest[:size])
			cells[number].Raw, rest = &text, rest[size:]
		}
	}
	return cells, rest
}

var widths = map[byte]int64{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 7: 4, 8: 8, 9: 3, 10: 3, 11: 3, 12: 8, 13: 1, 14: 3, 17: 4, 18: 5, 19: 3}

// width is how many bytes a value takes, the length in front of it among them.
func width(kind byte, metadata, rest []byte) int64 {
	behind := func(prefix int64) int64 { return prefix + little(rest[:prefix]) }
	long := func(longest int64) int64 { return behind(1 + min(longest/256, 1)) }
	switch kind {
	case 17, 18, 19:
		return widths[kind] + (int64(metadata[0])+1)/2
	case 16:
		return int64(metadata[1]) + (int64(metadata[0])+7)/8
	case 15, 141, 253:
		return long(little(metadata))
	case 140, 242, 245, 252, 255:
		return behind(int64(metadata[0]))
	case 247, 248, 254:
		if kind != 254 || metadata[0] == 247 || metadata[0] == 248 {
			return int64(metadata[1])
		}
		return long(int64(metadata[1]) | (int64(metadata[0])&0x30^0x30)<<4)
	case 246:
		digits := func(count byte) int64 { return int64(count/9*4 + "\x00\x01\x01\x02\x02\x03\x03\x04\x04"[count%9]) }
		return digits(metadata[0]-metadata[1]) + digits(metadata[1])
	}
	return widths[kind]
}
