"""A testee that behaves badly now and then, in the way that its argument names; else it echoes the kit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

BAD = 7


def misbehave(word: str, number: int) -> bool:
    """Whether the request is answered with that."""
    if word == "crash":
        os.abort()
    if word == "exit":
        sys.exit("it cannot go on")
    if word == "child":
        subprocess.Popen(["sleep", "60"])  # It holds the output open.
        os._exit(9)
    if word == "hang":
        time.sleep(600)
    if word == "silence":
        os.close(1)
        time.sleep(600)
    if word == "garbage":
        print("panic: runtime error", flush=True)
    if word == "binary":
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.flush()
    if word == "order":
        print(json.dumps({"id": number - 1, "end": "ok"}), flush=True)
    if word == "nameless":
        print(json.dumps({"end": "ok"}), flush=True)
    if word == "flood":
        while True:
            print('{"warning": "' + "x" * 65536 + '"}', flush=True)
    if word == "line":
        while True:
            sys.stdout.write("x" * 65536)
    if word == "memory":
        held = bytearray(1)
        while True:
            held += bytes(1 << 26)
            time.sleep(0.01)
    if word == "rows":
        row = {"kind": "insert", "database": "d", "table": "t", "after": [{"column": 1, "value": "x" * 4096}]}
        while True:
            print(json.dumps({"row": row}), flush=True)
    if word in ("twice", "ahead"):
        print(json.dumps({"id": number, "end": "ok"}), flush=True)
        print(json.dumps({"id": number + (word == "ahead"), "end": "ok"}), flush=True)
        return True
    if word == "refuse":
        print(json.dumps({"id": number, "end": "refused", "message": "no"}), flush=True)
        return True
    if word == "errors":
        while True:
            sys.stderr.write("x" * 65536)
    return False


def main(word: str) -> None:
    asked = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "hello" in request:
            print(json.dumps({"id": 0, "hello": {"name": "odd", "version": "1"}}), flush=True)
            continue
        path = Path(request["file"])
        if word == "tenth":
            asked += 1
            if asked == 10:
                os._exit(9)
        elif int.from_bytes(path.parent.name.encode(), "big") % BAD == 0 and misbehave(word, request["id"]):
            continue
        case = json.loads((path.parent / "case.json").read_text())
        stops = next(file["stops_at"] for file in case["files"] if file["name"] == path.name)
        for row in path.with_name(f"{path.name}.rows.jsonl").read_text().splitlines():
            print(f'{{"row": {row}}}')
        print(json.dumps({"id": request["id"], "end": "ok" if stops is None else "refused"}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
