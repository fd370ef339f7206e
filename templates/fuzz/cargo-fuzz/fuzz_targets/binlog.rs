//! A fuzz target for mysql_common's reader of binary logs; to try yours, put it into the place of `read`.
//!
//!     cargo +nightly fuzz run --fuzz-dir . binlog -- -dict=binlog.dict -timeout=5 -rss_limit_mb=1024
//!
//! An error is fine. A panic, a log that takes over five seconds, and memory beyond 1 GiB are not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mysql_common::binlog::consts::BinlogVersion;
use mysql_common::binlog::events::{Event, EventData};
use mysql_common::binlog::{BinlogFileHeader, EventStreamReader};

fn read(log: &[u8]) -> std::io::Result<()> {
    let mut rest = log;
    let mut reader = EventStreamReader::new(BinlogVersion::Version4);
    BinlogFileHeader::read(&mut rest)?;
    while let Some(event) = reader.read(&mut rest)? {
        show(&event, &mut reader)?;
    }
    Ok(())
}

fn show(event: &Event, reader: &mut EventStreamReader) -> std::io::Result<()> {
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
                }
            }
        }
        _ => (),
    }
    Ok(())
}

fuzz_target!(|log: &[u8]| {
    let _ = read(log);
});
