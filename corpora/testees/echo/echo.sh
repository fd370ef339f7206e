#!/bin/sh
# The smallest testee: it answers what the kit has beside a file, and refuses where a correct reader stops.
while read -r line; do
  file=$(printf %s "$line" | sed -n 's/.*"file":"\([^"]*\)".*/\1/p')
  if [ -z "$file" ]; then echo '{"id":0,"hello":{"name":"echo-sh","version":"1"}}'; continue; fi
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  sed 's/^/{"row":/; s/$/}/' "$file.rows.jsonl"
  end=ok; grep -q '"stops_at": [0-9]' "${file%/*}/case.json" && end=refused
  echo "{\"id\":$id,\"end\":\"$end\"}"
done
