"""The smallest testee: it answers what the kit has beside a file, and refuses where a correct reader stops."""

import json
import os
import sys

for request in map(json.loads, sys.stdin):
    if "hello" in request:
        print('{"id": 0, "hello": {"name": "echo-python", "version": "1", "language": "Python"}}', flush=True)
        continue
    folder, name = os.path.split(request["file"])
    case = json.load(open(f"{folder}/case.json"))
    stops = any(file["stops_at"] is not None for file in case["files"] if file["name"] == name)
    for row in open(request["file"] + ".rows.jsonl"):
        print(f'{{"row": {row.strip()}}}')
    print(json.dumps({"id": request["id"], "end": "refused" if stops else "ok"}), flush=True)
