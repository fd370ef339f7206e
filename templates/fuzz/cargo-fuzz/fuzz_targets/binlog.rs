//! A fuzz target for mysql_common's reader of binary logs; to try yours, put it into the place of `read`.
//!
//!     cargo +nightly fuzz run --fuzz-dir . binlog -- -dict=binlog.dict -timeout=5 -rss_limit_mb=1024
//!
//! An error is fine, but for an unchanged seed of rows.txt, which has that many rows. A panic, a log that takes over five
//! seconds, and memory beyond 1 GiB are not.
#![no_main]

use std::collections::HashMap;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mysql_common::binlog::consts::BinlogVersion;
use mysql_common::binlog::events::{Event, EventData};
use mysql_common::binlog::{BinlogFileHeader, EventStreamReader};

/// The number of rows in a log.
fn read(log: &[u8]) -> std::io::Result<usize> {
    let mut rest = log;
    let mut reader = EventStreamReader::new(BinlogVersion::Version4);
    BinlogFileHeader::read(&mut rest)?;
    let mut count = 0;
    while let Some(event) = reader.read(&mut rest)? {
        count += rows_of(&event, &mut reader)?;
    }
    Ok(count)
}

fn rows_of(event: &Event, reader: &mut EventStreamReader) -> std::io::Result<usize> {
    let mut count = 0;
    match event.read_data()? {
        Some(EventData::TableMapEvent(table)) => {
            for field in table.iter_optional_meta() {
                field?;
            }
        }
        Some(EventData::RowsEvent(rows)) => {
            if let Some(table) = reader.get_tme(rows.table_id()) {
                for row in rows.rows(table) {
                    row?;
                    count += 1;
                }
            }
        }
        Some(EventData::TransactionPayloadEvent(payload)) => {
            let mut stream = payload.decompressed()?;
            while let Some(inner) = reader.read_decompressed(&mut stream)? {
                count += rows_of(&inner, reader)?;
            }
        }
        _ => (),
    }
    Ok(count)
}

/// The rows of each seed, by its FNV-1a.
fn seeds() -> &'static HashMap<u64, usize> {
    static SEEDS: OnceLock<HashMap<u64, usize>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/rows.txt")).unwrap_or_default();
        text.lines()
            .map(|line| {
                let mut words = line.split(' ');
                let hash = u64::from_str_radix(words.next().unwrap(), 16).unwrap();
                (hash, words.next().unwrap().parse().unwrap())
            })
            .collect()
    })
}

fn fnv1a(log: &[u8]) -> u64 {
    log.iter().fold(0xcbf29ce484222325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3))
}

fuzz_target!(|log: &[u8]| {
    let rows = read(log);
    if let Some(right) = seeds().get(&fnv1a(log)) {
        match rows {
            Err(error) => panic!("a correct log is refused: {error}"),
            Ok(rows) => assert_eq!(rows, *right, "the rows of a correct log"),
        }
    }
});
