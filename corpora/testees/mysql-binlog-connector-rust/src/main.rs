//! A testee of mysql-binlog-connector-rust: its BinlogParser over files, in the protocol of docs/conform.md.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Seek, Write};

use mysql_binlog_connector_rust::{
    binlog_parser::BinlogParser,
    column::{column_value::ColumnValue, json::json_binary::JsonBinary},
    event::{event_data::EventData, row_event::RowEvent, table_map_event::TableMapEvent},
};
use serde_json::{Value as Json, json};

type Answer<T> = Result<T, String>;

/// How it shows values: numbers signed, strings and documents as they are stored, members by number.
fn forms() -> Json {
    json!({
        "integer": "number signed", "decimal": "text", "float": "value", "bits": "number", "year": "number",
        "date": "text", "datetime": "value", "timestamp": "microseconds", "time": "value", "enum": "number",
        "set": "number", "text": "hex", "bytes": "hex", "json": "value", "geometry": "hex", "vector": "hex",
    })
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn spelled(value: &ColumnValue) -> Answer<Json> {
    Ok(match value {
        ColumnValue::None => Json::Null,
        ColumnValue::Tiny(number) => json!(number),
        ColumnValue::Short(number) => json!(number),
        ColumnValue::Long(number) => json!(number),
        ColumnValue::LongLong(number) => json!(number),
        // JSON has no NaN and no infinity.
        ColumnValue::Float(number) => json!(number.to_string()),
        ColumnValue::Double(number) => json!(number.to_string()),
        ColumnValue::Decimal(text) | ColumnValue::Time(text) | ColumnValue::Date(text) | ColumnValue::DateTime(text) => {
            json!(text)
        }
        ColumnValue::Timestamp(microseconds) => json!(microseconds),
        ColumnValue::Year(number) => json!(number),
        ColumnValue::String(bytes) | ColumnValue::Blob(bytes) => json!(hex(bytes)),
        ColumnValue::Bit(number) | ColumnValue::Set(number) => json!(number),
        ColumnValue::Enum(number) => json!(number),
        ColumnValue::Json(bytes) => json!(JsonBinary::parse_as_string(bytes).map_err(said)?),
    })
}

fn image(row: &RowEvent, present: &[bool]) -> Answer<Json> {
    let mut cells = vec![];
    for (place, value) in row.column_values.iter().enumerate() {
        if present[place] {
            cells.push(json!({"column": place + 1, "value": spelled(value)?}));
        }
    }
    Ok(json!(cells))
}

struct Log<'a> {
    tables: HashMap<u64, TableMapEvent>,
    out: &'a mut Vec<u8>,
}

impl Log<'_> {
    fn row(&mut self, table: u64, place: &Json, kind: &str, before: Json, after: Json) -> Answer<()> {
        let table = self.tables.get(&table).ok_or_else(|| format!("no table map {table}"))?;
        let mut row = place.clone();
        row["kind"] = json!(kind);
        row["database"] = json!(table.database_name);
        row["table"] = json!(table.table_name);
        row["before"] = before;
        row["after"] = after;
        writeln!(self.out, "{}", json!({"row": row})).map_err(said)
    }

    fn show(&mut self, event: &EventData, place: Json) -> Answer<()> {
        match event {
            EventData::TableMap(table) => {
                self.tables.insert(table.table_id, table.clone());
            }
            EventData::WriteRows(rows) => {
                for row in &rows.rows {
                    let after = image(row, &rows.included_columns)?;
                    self.row(rows.table_id, &place, "insert", Json::Null, after)?;
                }
            }
            EventData::DeleteRows(rows) => {
                for row in &rows.rows {
                    let before = image(row, &rows.included_columns)?;
                    self.row(rows.table_id, &place, "delete", before, Json::Null)?;
                }
            }
            EventData::UpdateRows(rows) => {
                for (before, after) in &rows.rows {
                    let before = image(before, &rows.included_columns_before)?;
                    let after = image(after, &rows.included_columns_after)?;
                    self.row(rows.table_id, &place, "update", before, after)?;
                }
            }
            EventData::TransactionPayload(payload) => {
                for (inner, (_, event)) in payload.uncompressed_events.iter().enumerate() {
                    let mut place = place.clone();
                    place["inner"] = json!(inner + 1);
                    self.show(event, place)?;
                }
            }
            _ => (),
        }
        Ok(())
    }
}

fn read(file: &str, out: &mut Vec<u8>) -> Answer<()> {
    let opened = std::fs::File::open(file).map_err(said)?;
    let size = opened.metadata().map_err(said)?.len();
    let mut rest = BufReader::new(opened);
    let mut parser = BinlogParser { checksum_length: 0, table_map_event_by_table_id: HashMap::new() };
    parser.check_magic(&mut rest).map_err(said)?;
    let mut log = Log { tables: HashMap::new(), out };
    loop {
        let offset = rest.stream_position().map_err(said)?;
        if offset >= size {
            return Ok(());
        }
        let (_, event) = parser.next(&mut rest).map_err(said)?;
        log.show(&event, json!({"offset": offset}))?;
    }
}

fn answer(asked: &Json, out: &mut Vec<u8>) -> Json {
    let file = asked["file"].as_str().unwrap_or_default();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(file, out)));
    let (end, message) = match caught {
        Ok(Ok(())) => return json!({"id": asked["id"], "end": "ok"}),
        Ok(Err(message)) => ("refused", message),
        Err(reason) => {
            let text = reason.downcast_ref::<String>().cloned();
            let text = text.or(reason.downcast_ref::<&str>().map(ToString::to_string));
            ("crashed", format!("panic: {}", text.unwrap_or_default()))
        }
    };
    json!({"id": asked["id"], "end": end, "message": message.chars().take(400).collect::<String>()})
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let hello = json!({
        "name": "mysql-binlog-connector-rust", "version": env!("DECODER_VERSION"), "language": "Rust",
        "levels": ["rows"], "forms": forms(),
        "limits": ["integers are signed, whatever the log says of them: they are compared as such"],
    });
    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let asked: Json = serde_json::from_str(&line.expect("a line")).expect("a request");
        let mut out = vec![];
        let end = match asked.get("hello") {
            Some(_) => json!({"id": asked["id"], "hello": hello}),
            None => answer(&asked, &mut out),
        };
        writeln!(out, "{end}").expect("memory");
        stdout.write_all(&out).and_then(|()| stdout.flush()).expect("a pipe");
    }
}
