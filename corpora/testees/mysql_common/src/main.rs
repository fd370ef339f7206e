//! A testee of mysql_common: its EventStreamReader over files, in the protocol of docs/conform.md.

mod release;

use std::io::{BufRead, BufReader, Seek, Write};

use mysql_common::binlog::{
    BinlogFileHeader, EventStreamReader,
    consts::{BinlogVersion, EventType},
    events::{Event, EventData, RowsEventData, TableMapEvent},
    jsonb,
    row::BinlogRow,
    value::BinlogValue,
};
use mysql_common::{constants::ColumnType, value::Value};
use serde_json::{Value as Json, json};

type Answer<T> = Result<T, String>;

/// How mysql_common shows values: strings, BIT and SET as they are stored, ENUM by number, timestamps as seconds.
fn forms() -> Json {
    json!({
        "integer": "number", "decimal": "value", "float": "value", "bits": "hex", "year": "text", "date": "value",
        "datetime": "value", "timestamp": "microseconds", "time": "value", "enum": "number", "set": "hex",
        "text": "hex", "bytes": "hex", "json": "value", "geometry": "hex", "vector": "hex", "diffs": "value",
    })
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A document as text of JSON.
fn document(value: &jsonb::Value<'_>) -> Answer<Json> {
    release::parsed(value).map(|parsed| json!(parsed.to_string()))
}

/// Seconds and microseconds, which it gives as text with a point between them.
fn microseconds(shown: &str) -> Json {
    let (seconds, fraction) = shown.split_once('.').unwrap_or((shown, "0"));
    match (seconds.parse::<i64>(), fraction.parse::<i64>()) {
        (Ok(seconds), Ok(fraction)) => json!(seconds * 1_000_000 + fraction),
        _ => json!(shown),
    }
}

fn bytes(data: &[u8], kind: ColumnType) -> Json {
    let shown = || String::from_utf8_lossy(data);
    match kind {
        ColumnType::MYSQL_TYPE_NEWDECIMAL | ColumnType::MYSQL_TYPE_YEAR => json!(shown()),
        ColumnType::MYSQL_TYPE_TIMESTAMP2 => microseconds(&shown()),
        _ => json!(hex(data)),
    }
}

fn spelled(value: &Value, kind: ColumnType) -> Json {
    let fraction = |part: u32| format!(".{part:06}");
    match value {
        Value::NULL => Json::Null,
        Value::Bytes(data) => bytes(data, kind),
        Value::Int(seconds) if kind == ColumnType::MYSQL_TYPE_TIMESTAMP => json!(seconds * 1_000_000),
        Value::Int(number) => json!(number),
        Value::UInt(number) => json!(number),
        // JSON has no NaN and no infinity.
        Value::Float(number) => json!(number.to_string()),
        Value::Double(number) => json!(number.to_string()),
        Value::Date(year, month, day, ..) if matches!(kind, ColumnType::MYSQL_TYPE_NEWDATE | ColumnType::MYSQL_TYPE_DATE) => {
            json!(format!("{year:04}-{month:02}-{day:02}"))
        }
        Value::Date(year, month, day, hour, minute, second, micro) => {
            let part = fraction(*micro);
            json!(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{part}"))
        }
        Value::Time(negative, days, hours, minutes, seconds, micro) => {
            let (sign, hours) = (if *negative { "-" } else { "" }, days * 24 + u32::from(*hours));
            json!(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction(*micro)))
        }
    }
}

fn cell(value: &BinlogValue<'_>, kind: ColumnType) -> Answer<Json> {
    match value {
        BinlogValue::Value(value) => Ok(spelled(value, kind)),
        BinlogValue::Jsonb(value) => document(value),
        BinlogValue::JsonDiff(diffs) => {
            let mut shown = vec![];
            for diff in diffs {
                let operation = format!("{:?}", diff.operation());
                let mut one = json!({"operation": operation, "path": diff.path_str()});
                if let Some(value) = diff.value() {
                    one["value"] = document(value)?;
                }
                shown.push(one);
            }
            Ok(json!(shown))
        }
    }
}

/// A row of mysql_common keeps the columns that are present; the event knows which.
fn image(row: Option<&BinlogRow>, present: Option<Vec<usize>>, table: &TableMapEvent<'_>) -> Answer<Json> {
    let (Some(row), Some(present)) = (row, present) else { return Ok(Json::Null) };
    let mut cells = vec![];
    for (place, column) in present.into_iter().enumerate().take(row.len()) {
        let kind = table.get_column_type(column).map_err(said)?.ok_or("no column type")?;
        let value = row.as_ref(place).map_or(Ok(Json::Null), |value| cell(value, kind))?;
        cells.push(json!({"column": column + 1, "value": value}));
    }
    Ok(json!(cells))
}

fn rows(event: &RowsEventData<'_>, table: &TableMapEvent<'_>, place: &Json, out: &mut Vec<u8>) -> Answer<()> {
    use RowsEventData::*;
    let kind = match event {
        WriteRowsEventV1(_) | WriteRowsEvent(_) => "insert",
        DeleteRowsEventV1(_) | DeleteRowsEvent(_) => "delete",
        _ => "update",
    };
    for row in event.rows(table) {
        let (before, after) = row.map_err(said)?;
        let present = event.columns_before_image().map(|bits| bits.iter_ones().collect());
        let before = image(before.as_ref(), present, table)?;
        let present = event.columns_after_image().map(|bits| bits.iter_ones().collect());
        let after = image(after.as_ref(), present, table)?;
        let mut row = place.clone();
        row["kind"] = json!(kind);
        row["database"] = json!(table.database_name());
        row["table"] = json!(table.table_name());
        row["before"] = before;
        row["after"] = after;
        writeln!(out, "{}", json!({"row": row})).map_err(said)?;
    }
    Ok(())
}

fn show(event: &Event, reader: &mut EventStreamReader, level: &str, place: Json, out: &mut Vec<u8>) -> Answer<()> {
    let data = event.read_data().map_err(said)?;
    data.iter().for_each(release::ask);
    if level == "events" {
        if let Some(variables) = data.as_ref().and_then(release::status_variables) {
            let mut shown = place.clone();
            shown["type"] = json!("QUERY");
            shown["fields"] = json!({"status_variables": variables});
            writeln!(out, "{}", json!({"event": shown})).map_err(said)?;
        }
    }
    match data {
        // What follows the columns' types is read when its user asks for it.
        Some(EventData::TableMapEvent(table)) => {
            table.iter_optional_meta().try_for_each(|field| field.map(drop)).map_err(said)
        }
        Some(EventData::RowsEvent(found)) if level == "rows" => {
            let number = found.table_id();
            let table = reader.get_tme(number).ok_or_else(|| format!("no table map {number}"))?;
            rows(&found, table, &place, out)
        }
        Some(EventData::TransactionPayloadEvent(payload)) => {
            let mut stream = payload.decompressed().map_err(said)?;
            let mut inner = 0;
            while stream.has_data_left().map_err(said)? {
                let Some(event) = reader.read_decompressed(&mut stream).map_err(said)? else { break };
                inner += 1;
                let mut place = place.clone();
                place["inner"] = json!(inner);
                show(&event, reader, level, place, out)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The library leaves it to its user to compare the checksum.
fn check(event: &Event) -> Answer<()> {
    let describes = event.header().event_type_raw() == EventType::FORMAT_DESCRIPTION_EVENT as u8;
    let algorithm = event.footer().get_checksum_alg().map_err(said)?;
    if let (Some(found), Some(algorithm)) = (event.checksum(), algorithm) {
        let counts = describes || event.footer().get_checksum_enabled();
        if counts && u32::from_le_bytes(found) != event.calc_checksum(algorithm) {
            return Err("the checksum does not match".to_string());
        }
    }
    Ok(())
}

fn read(file: &str, level: &str, out: &mut Vec<u8>) -> Answer<()> {
    let mut rest = BufReader::new(std::fs::File::open(file).map_err(said)?);
    let mut reader = EventStreamReader::new(BinlogVersion::Version4);
    BinlogFileHeader::read(&mut rest).map_err(said)?;
    loop {
        let offset = rest.stream_position().map_err(said)?;
        let Some(event) = reader.read(&mut rest).map_err(said)? else { return Ok(()) };
        check(&event)?;
        show(&event, &mut reader, level, json!({"offset": offset}), out)?;
    }
}

fn answer(asked: &Json, out: &mut Vec<u8>) -> Json {
    let [file, level] = ["file", "level"].map(|name| asked[name].as_str().unwrap_or_default());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(file, level, out)));
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
        "name": "mysql_common", "version": env!("DECODER_VERSION"), "language": "Rust", "levels": ["events", "rows"],
        "forms": forms(),
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
