package kit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

type object = map[string]any

func lines(t *testing.T, path string) (found []object) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<30)
	for scanner.Scan() {
		line := object{}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		found = append(found, line)
	}
	return found
}

// The phases that Read finds errors in. Faults in metadata are not its business.
var phases = map[any]bool{"framing": true, "checksum": true, "row": true}

func TestKit(t *testing.T) {
	kit := os.Getenv("KIT")
	if kit == "" {
		kit = filepath.Join("..", "..")
	}
	for _, line := range lines(t, filepath.Join(kit, "index.jsonl")) {
		t.Run(line["id"].(string), func(t *testing.T) {
			if line["verdict"] == "reject" && !phases[line["phase"]] || line["verdict"] == "may" {
				t.Skip("a fault that this reader does not look for")
			}
			for _, one := range line["files"].([]any) {
				file := one.(object)
				path := filepath.Join(kit, "cases", line["id"].(string), file["name"].(string))
				log, err := readFile(t, path, file)
				if line["verdict"] == "reject" && file["stops_at"] != nil {
					if err == nil && !log.Skipped[int64(file["stops_at"].(float64))] {
						t.Errorf("%s: it must be refused (%v)", path, line["phase"])
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				compareEvents(t, lines(t, path+".events.jsonl"), log)
				compareRows(t, lines(t, path+".rows.jsonl"), log)
			}
		})
	}
}

func readFile(t *testing.T, path string, file object) (Log, error) {
	if file["holes"] != nil {
		path = layOut(t, path, file)
	}
	opened, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	return Read(opened, int64(file["size"].(float64)))
}

// layOut writes a file that the kit has without its holes, which take no room.
func layOut(t *testing.T, path string, file object) string {
	packed, err := os.Open(path + ".packed")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	whole, err := os.Create(filepath.Join(t.TempDir(), "binlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	at := int64(0)
	for _, one := range file["holes"].([]any) {
		hole := one.(object)
		offset, length := int64(hole["offset"].(float64)), int64(hole["length"].(float64))
		io.CopyN(whole, packed, offset-at)
		at, _ = whole.Seek(length, io.SeekCurrent)
	}
	io.Copy(whole, packed)
	if err := whole.Truncate(int64(file["size"].(float64))); err != nil {
		t.Fatal(err)
	}
	return whole.Name()
}

func compareEvents(t *testing.T, expected []object, log Log) {
	number := 0
	for _, event := range expected {
		if event["inner"] != nil {
			continue // inside a payload
		}
		if number == len(log.Events) {
			t.Fatalf("the event at %v is missing", event["offset"])
		}
		given := log.Events[number]
		right := fmt.Sprint(event["offset"], event["type_code"], event["event_size"], event["log_pos"], event["timestamp"], event["server_id"])
		shown := fmt.Sprint(float64(given.Offset), float64(given.TypeCode), float64(given.EventSize), float64(given.LogPos), float64(given.Timestamp), float64(given.ServerID))
		if right != shown {
			t.Fatalf("event %d is %s, it shows %s", number, right, shown)
		}
		number++
	}
}

func compareRows(t *testing.T, expected []object, log Log) {
	number := 0
	for _, row := range expected {
		if row["inner"] != nil || log.Skipped[int64(row["offset"].(float64))] {
			continue
		}
		if number == len(log.Rows) {
			t.Fatalf("the row %v at %v is missing", row["row"], row["offset"])
		}
		given := log.Rows[number]
		table := given.Database + "." + given.Table
		if !utf8.ValidString(table) { // Names that are not UTF-8 are hex in the kit.
			table = fmt.Sprintf("%v.%v", row["database"], row["table"])
		}
		right := fmt.Sprintf("%v %v %v.%v %s %s", row["offset"], row["kind"], row["database"], row["table"], image(row["before"]), image(row["after"]))
		shown := fmt.Sprintf("%v %v %v %s %s", float64(given.Offset), given.Kind, table, cells(given.Before), cells(given.After))
		if right != shown {
			t.Fatalf("row %v at %v is\n%s, it shows\n%s", row["row"], row["offset"], right, shown)
		}
		number++
	}
	if number != len(log.Rows) {
		t.Fatalf("there are %d rows, it shows %d", number, len(log.Rows))
	}
}

func image(expected any) string {
	if expected == nil {
		return "none"
	}
	text := ""
	for _, one := range expected.([]any) {
		text += fmt.Sprintf(" %v=%v", one.(object)["column"], one.(object)["raw"])
	}
	return text
}

func cells(given []Cell) string {
	if given == nil {
		return "none"
	}
	text := ""
	for _, cell := range given {
		if cell.Raw == nil {
			text += fmt.Sprintf(" %d=<nil>", cell.Column)
		} else {
			text += fmt.Sprintf(" %d=%s", cell.Column, *cell.Raw)
		}
	}
	return text
}
