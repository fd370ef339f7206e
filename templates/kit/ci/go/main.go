// A testee: it answers requests with the rows of binary logs, a JSON object a line (PROTOCOL.md of the kit).
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

type object = map[string]any

type cell struct {
	Column int `json:"column"` // from 1
	Value  any `json:"value"`  // nil is NULL
}

type row struct {
	Kind     string `json:"kind"` // insert, update, delete
	Database string `json:"database"`
	Table    string `json:"table"`
	Before   []cell `json:"before"` // nil for an insert
	After    []cell `json:"after"`  // nil for a delete
}

// How the reader shows values: PROTOCOL.md has all forms. What is not named here is shown as the kit has it.
var hello = object{
	"name": "my-reader", "version": "1", "language": "Go", "levels": []string{"rows"},
	"forms": object{
		"integer": "number", "decimal": "text", "float": "value", "bits": "text", "year": "number", "date": "text",
		"datetime": "text", "timestamp": "text", "time": "text", "enum": "number", "set": "number", "text": "text",
		"bytes": "hex", "json": "value", "geometry": "none", "vector": "none", "diffs": "none",
	},
}

// readRows gives the rows of a log one after the other, as it reads them: call your reader here.
// flavor is mysql or mariadb.
func readRows(path, flavor string, show func(row)) error {
	return errors.New("readRows is to be filled in")
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	answer := func(line any) {
		data, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		out.Write(append(data, '\n'))
	}
	requests := bufio.NewScanner(os.Stdin)
	requests.Buffer(nil, 1<<20)
	for requests.Scan() {
		var asked struct {
			ID, Hello    int
			File, Flavor string
		}
		if err := json.Unmarshal(requests.Bytes(), &asked); err != nil {
			panic(err)
		}
		if asked.Hello > 0 {
			answer(object{"id": asked.ID, "hello": hello})
		} else {
			end, message := read(asked.File, asked.Flavor, func(one row) { answer(object{"row": one}) })
			answer(object{"id": asked.ID, "end": end, "message": message})
		}
		out.Flush()
	}
}

func read(path, flavor string, show func(row)) (end, message string) {
	defer func() {
		if reason := recover(); reason != nil {
			end, message = "crashed", fmt.Sprint(reason)
		}
	}()
	if err := readRows(path, flavor, show); err != nil {
		return "refused", err.Error()
	}
	return "ok", ""
}
