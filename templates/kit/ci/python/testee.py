#!/usr/bin/env python3
"""A testee: it answers requests with the rows of binary logs, a JSON object a line (PROTOCOL.md of the kit)."""

import json
import sys

#: How the reader shows values: PROTOCOL.md has all forms. What is not named here is shown as the kit has it.
FORMS = {
    "integer": "number", "decimal": "text", "float": "value", "bits": "text", "year": "number", "date": "text",
    "datetime": "text", "timestamp": "text", "time": "text", "enum": "number", "set": "number", "text": "text",
    "bytes": "hex", "json": "value", "geometry": "none", "vector": "none", "diffs": "none",
}  # fmt: skip
HELLO = {"name": "my-reader", "version": "1", "language": "Python", "levels": ["rows"], "forms": FORMS}


def rows(path, flavor):
    """The rows of a log one after the other, as it is read: call your reader here. ``flavor``: mysql or mariadb.

    A row is {"kind": "update", "database": "shop", "table": "orders", "before": [{"column": 1, "value": 7}],
    "after": [...]}; before is None for an insert, after for a delete.
    """
    raise ValueError("rows is to be filled in")


def answer(line):
    print(json.dumps(line))


def read(path, flavor):
    try:
        for row in rows(path, flavor):
            answer({"row": row})
    except Exception as error:
        return {"end": "refused", "message": str(error)}
    return {"end": "ok"}


for request in map(json.loads, sys.stdin):
    done = {"hello": HELLO} if "hello" in request else read(request["file"], request["flavor"])
    answer({"id": request["id"], **done})
    sys.stdout.flush()
