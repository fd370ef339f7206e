//! A testee: it answers requests with the rows of binary logs, a JSON object a line (PROTOCOL.md of the kit).

use std::io::{BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

use serde_json::{json, Value};

/// How the reader shows values: PROTOCOL.md has all forms. What is not named here is shown as the kit has it.
fn hello() -> Value {
    json!({
        "name": "my-reader", "version": "1", "language": "Rust", "levels": ["rows"],
        "forms": {
            "integer": "number", "decimal": "text", "float": "value", "bits": "text", "year": "number", "date": "text",
            "datetime": "text", "timestamp": "text", "time": "text", "enum": "number", "set": "number", "text": "text",
            "bytes": "hex", "json": "value", "geometry": "none", "vector": "none", "diffs": "none",
        },
    })
}

/// Shows the rows of a log one after the other, as it reads them: call your reader here. `flavor`: mysql or mariadb.
///
/// A row is {"kind": "update", "database": "shop", "table": "orders", "before": [{"column": 1, "value": 7}], "after": [...]};
/// before is null for an insert, after for a delete.
fn read_rows(path: &str, flavor: &str, show: &mut dyn FnMut(Value)) -> Result<(), String> {
    let _ = (path, flavor, show);
    Err("read_rows is to be filled in".into())
}

fn main() {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.expect("a line")).expect("a request");
        let id = &asked["id"];
        let end = if asked.get("hello").is_some() {
            json!({"id": id, "hello": hello()})
        } else {
            let [path, flavor] = ["file", "flavor"].map(|name| asked[name].as_str().unwrap_or_default());
            let mut show = |row| writeln!(out, "{}", json!({"row": row})).expect("a pipe");
            match catch_unwind(AssertUnwindSafe(|| read_rows(path, flavor, &mut show))) {
                Ok(Ok(())) => json!({"id": id, "end": "ok"}),
                Ok(Err(message)) => json!({"id": id, "end": "refused", "message": message}),
                Err(_) => json!({"id": id, "end": "crashed"}),
            }
        };
        writeln!(out, "{end}").and_then(|()| out.flush()).expect("a pipe");
    }
}
