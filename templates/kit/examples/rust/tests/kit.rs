use serde_json::{from_str, json, Value};
use std::{env, fs, path::Path};

fn lines(path: &str) -> Vec<Value> {
    fs::read_to_string(path).expect(path).lines().map(|line| from_str(line).unwrap()).collect()
}

/// The first difference between what a correct reader gets of a file and what ours does.
fn difference(path: &str, log: &kit::Log) -> Option<String> {
    let mut events = log.events.iter();
    for right in lines(&format!("{path}.events.jsonl")) {
        if right.get("inner").is_some() {
            continue; // inside a payload
        }
        let names = ["offset", "type_code", "event_size", "log_pos", "timestamp", "server_id"];
        let expected: Vec<&Value> = names.iter().map(|name| &right[*name]).collect();
        let given = events.next().map(|event| json!(event));
        if given != Some(json!(expected)) {
            return Some(format!("an event is {}, it shows {given:?}", json!(expected)));
        }
    }
    let mut rows = log.rows.iter();
    for right in lines(&format!("{path}.rows.jsonl")) {
        if right.get("inner").is_some() || log.skipped.contains(&right["offset"].as_u64().unwrap()) {
            continue;
        }
        let Some(row) = rows.next() else { return Some(format!("the row at {} is missing", right["offset"])) };
        let name = |name: &Vec<u8>, right: &Value| match String::from_utf8(name.clone()) {
            Ok(text) => json!(text),
            Err(_) => right.clone(), // Names that are not UTF-8 are hex in the kit.
        };
        let image = |cells: &Option<kit::Image>| match cells {
            Some(cells) => json!(cells),
            None => Value::Null,
        };
        let given = json!([
            row.offset, row.kind, name(&row.table.0, &right["database"]), name(&row.table.1, &right["table"]),
            image(&row.images[0]), image(&row.images[1])
        ]);
        let cells = |image: &Value| match image.as_array() {
            Some(cells) => cells.iter().map(|cell| json!([cell["column"], cell["raw"]])).collect(),
            None => Value::Null,
        };
        let expected = json!([
            right["offset"], right["kind"], right["database"], right["table"], cells(&right["before"]), cells(&right["after"])
        ]);
        if given != expected {
            return Some(format!("a row is\n{expected}, it shows\n{given}"));
        }
    }
    rows.next().map(|row| format!("it shows one row too many at {}", row.offset))
}

#[test]
fn every_case_of_the_kit_is_right() {
    let kit = env::var("KIT").unwrap_or("../..".into());
    let mut failures = vec![];
    let mut compared = 0;
    for case in lines(&format!("{kit}/index.jsonl")) {
        // The phases that our reader finds errors in. Faults in metadata are not its business.
        let phase = case["phase"].as_str().unwrap_or("");
        if case["verdict"] == "may" || case["verdict"] == "reject" && !["framing", "checksum", "row"].contains(&phase) {
            continue;
        }
        let mut read = 0;
        for file in case["files"].as_array().unwrap() {
            if file["holes"].is_array() {
                println!("not read: {} is larger than the memory (examples/go reads such files)", case["id"]);
                continue;
            }
            read = 1;
            let path = format!("{kit}/cases/{}/{}", case["id"].as_str().unwrap(), file["name"].as_str().unwrap());
            let (log, result) = kit::read(&fs::read(Path::new(&path)).unwrap());
            if case["verdict"] == "reject" && !file["stops_at"].is_null() {
                if result.is_ok() && !log.skipped.contains(&file["stops_at"].as_u64().unwrap()) {
                    failures.push(format!("{path}: it must be refused ({phase})"));
                }
            } else if let Err(error) = result {
                failures.push(format!("{path}: {error}"));
            } else if let Some(sentence) = difference(&path, &log) {
                failures.push(format!("{path}: {sentence}"));
            }
        }
        compared += read;
    }
    println!("{compared} cases are compared");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
