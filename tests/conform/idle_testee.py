"""A testee that reads nothing: it ends each request in the one way that its argument names."""

from __future__ import annotations

import json
import sys

for request in map(json.loads, sys.stdin):
    if "hello" in request:
        levels = ["frames", "events", "rows"]
        print(json.dumps({"id": 0, "hello": {"name": "idle", "version": "1", "levels": levels}}), flush=True)
    else:
        print(json.dumps({"id": request["id"], "end": sys.argv[1]}), flush=True)
