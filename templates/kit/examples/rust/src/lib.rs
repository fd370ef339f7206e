//! A small reader of binary logs against the kit. Put your own reader in the place of `read`.
use std::collections::{HashMap, HashSet};

/// The header of an event: offset in the file, type code, size, log_pos, timestamp, server id.
pub type Event = [u64; 6];
/// The cells of an image: column from 1, and the bytes in hex; None is NULL.
pub type Image = Vec<(usize, Option<String>)>;

/// A changed row. An image that the event does not have is None.
pub struct Row {
    pub offset: u64,
    pub kind: &'static str,
    pub table: (Vec<u8>, Vec<u8>),
    pub images: [Option<Image>; 2],
}

/// What a reader shows of a file. Rows of events in `skipped` are not compared.
#[derive(Default)]
pub struct Log {
    pub events: Vec<Event>,
    pub rows: Vec<Row>,
    pub skipped: HashSet<u64>,
}

type Result<T> = std::result::Result<T, String>;

/// Bytes that are taken one after the other; taking more than there are is an error.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        if count > self.0.len() as u64 {
            return Err(format!("{count} bytes are needed, {} are left", self.0.len()));
        }
        let (taken, rest) = self.0.split_at(count as usize);
        self.0 = rest;
        Ok(taken)
    }
    fn number(&mut self, size: u64) -> Result<u64> {
        Ok(self.take(size)?.iter().rev().fold(0, |number, byte| number << 8 | *byte as u64))
    }
    fn packed(&mut self) -> Result<u64> {
        match self.number(1)? {
            252 => self.number(2),
            253 => self.number(3),
            254 => self.number(8),
            small => Ok(small),
        }
    }
    fn name(&mut self) -> Result<Vec<u8>> {
        let size = self.number(1)?;
        let name = self.take(size)?.to_vec();
        self.take(1).map(|_| name)
    }
}

struct Table {
    names: (Vec<u8>, Vec<u8>),
    columns: Option<Vec<(u64, Vec<u64>)>>,
    count: u64,
}

/// Reads a whole file. What it has read before an error is in the log all the same.
pub fn read(data: &[u8]) -> (Log, Result<()>) {
    let mut log = Log::default();
    let result = read_into(data, &mut log);
    (log, result)
}

fn read_into(data: &[u8], log: &mut Log) -> Result<()> {
    let mut rest = Bytes(data);
    if rest.take(4)? != b"\xfebin" {
        return Err("no binary log".into());
    }
    let (mut checksums, mut lengths, mut tables) = (false, [0; 256], HashMap::new());
    while !rest.0.is_empty() {
        let offset = (data.len() - rest.0.len()) as u64;
        let mut header = Bytes(Bytes(rest.0).take(19)?);
        let (timestamp, kind) = (header.number(4)?, header.number(1)?);
        let (server_id, size) = (header.number(4)?, header.number(4)?);
        if size < 19 {
            return Err(format!("the event at {offset} has {size} bytes"));
        }
        let mut raw = rest.take(size)?.to_vec();
        if kind == 15 {
            checksums = has_checksums(&raw);
            let given = raw.get(76..).unwrap_or_default().iter().zip(&mut lengths[1..]);
            given.for_each(|(given, length)| *length = *given as u64);
            raw[17] &= !1; // The sum is that of a file which is not in use.
        }
        let end = raw.len() - 4 * checksums as usize;
        if checksums && crc32(&raw[..end]) != Bytes(&raw[end..]).number(4)? {
            return Err(format!("the checksum of the event at {offset} is wrong"));
        }
        log.events.push([offset, kind, size, header.number(4)?, timestamp, server_id]);
        let mut body = Bytes(raw.get(19..end).ok_or("no room for a checksum")?);
        // FORMAT_DESCRIPTION says how long the fixed part of a type is: what is more than usual is passed over.
        let usual = if kind >= 30 { 10 } else { 8 };
        let more = lengths[kind as usize].saturating_sub(usual);
        match kind {
            19 => {
                let id = body.number(6)?;
                body.take(2 + more)?;
                tables.insert(id, table_map(body)?);
            }
            23..=25 | 30..=32 => log.rows(offset, kind, body, more, &tables)?,
            _ => drop(log.skipped.insert(offset)),
        }
    }
    Ok(())
}

fn has_checksums(raw: &[u8]) -> bool {
    let version = String::from_utf8_lossy(raw.get(21..71).unwrap_or_default()).to_string();
    let numbers = version.split(|sign: char| !sign.is_ascii_digit()).filter_map(|part| part.parse::<u64>().ok());
    let value = numbers.take(3).fold(0, |value, number| value * 1000 + number);
    let first = if version.contains("MariaDB") { 5_003_000 } else { 5_006_001 };
    value >= first && raw[raw.len() - 5] == 1
}

fn crc32(data: &[u8]) -> u64 {
    let step = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    let sum = data.iter().fold(!0u32, |sum, byte| (0..8).fold(sum ^ *byte as u32, |sum, _| step(sum)));
    !sum as u64
}

fn table_map(mut body: Bytes) -> Result<Table> {
    let names = (body.name()?, body.name()?);
    let count = body.packed()?;
    let types = body.take(count)?;
    let length = body.packed()?;
    let mut metadata = Bytes(body.take(length)?);
    if types.contains(&20) || types.contains(&244) {
        return Ok(Table { names, columns: None, count }); // The rows of such tables are not read here.
    }
    let mut columns = vec![];
    for kind in types {
        let size = match kind {
            4 | 5 | 17 | 18 | 19 | 140 | 242 | 245 | 252 | 255 => 1,
            15 | 16 | 141 | 246 | 247 | 248 | 253 | 254 => 2,
            _ => 0,
        };
        columns.push((*kind as u64, metadata.take(size)?.iter().map(|byte| *byte as u64).collect()));
    }
    Ok(Table { names, columns: Some(columns), count })
}

impl Log {
    fn rows(&mut self, offset: u64, kind: u64, mut body: Bytes, more: u64, tables: &HashMap<u64, Table>) -> Result<()> {
        let table = tables.get(&body.number(6)?).ok_or("no table is mapped")?;
        body.take(2)?;
        let extra = if kind >= 30 { body.number(2)?.checked_sub(2).ok_or("no extra row info")? } else { 0 };
        body.take(more + extra)?;
        let count = body.packed()?;
        if count != table.count {
            return Err("the event has other columns than its table".into());
        }
        let Some(columns) = &table.columns else {
            self.skipped.insert(offset);
            return Ok(());
        };
        let kind = ["insert", "update", "delete"][(kind % 7 - 2) as usize];
        let first = body.take(count.div_ceil(8))?;
        let second = if kind == "update" { body.take(count.div_ceil(8))? } else { first };
        loop {
            let before = body.0.len();
            let old = if kind == "insert" { None } else { Some(image(columns, first, &mut body)?) };
            let new = if kind == "delete" { None } else { Some(image(columns, second, &mut body)?) };
            self.rows.push(Row { offset, kind, table: table.names.clone(), images: [old, new] });
            if body.0.is_empty() || body.0.len() == before {
                return Ok(());
            }
        }
    }
}

fn image(columns: &[(u64, Vec<u64>)], present: &[u8], rest: &mut Bytes) -> Result<Image> {
    let bit = |bytes: &[u8], place: usize| bytes[place / 8] >> (place % 8) & 1 == 1;
    let there: Vec<usize> = (0..columns.len()).filter(|column| bit(present, *column)).collect();
    let nulls = rest.take(there.len().div_ceil(8) as u64)?;
    let mut cells = vec![];
    for (number, column) in there.into_iter().enumerate() {
        let mut raw = None;
        if !bit(nulls, number) {
            let (kind, metadata) = &columns[column];
            let bytes = rest.take(width(*kind, metadata, Bytes(rest.0))?)?;
            raw = Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        cells.push((column + 1, raw));
    }
    Ok(cells)
}

/// How many bytes a value takes, the length in front of it among them.
fn width(kind: u64, metadata: &[u64], mut rest: Bytes) -> Result<u64> {
    let digits = |count: u64| count / 9 * 4 + [0, 1, 1, 2, 2, 3, 3, 4, 4][(count % 9) as usize];
    let mut behind = |prefix: u64| Ok(prefix + rest.number(prefix)?);
    Ok(match kind {
        1 | 13 => 1,
        2 => 2,
        9 | 10 | 11 | 14 => 3,
        3 | 4 | 7 => 4,
        5 | 8 | 12 => 8,
        17..=19 => [4, 5, 3][kind as usize - 17] + metadata[0].div_ceil(2),
        16 => metadata[1] + metadata[0].div_ceil(8),
        15 | 141 | 253 => return behind(1 + metadata[1].min(1)),
        140 | 242 | 245 | 252 | 255 => return behind(metadata[0]),
        247 | 248 => metadata[1],
        254 if metadata[0] == 247 || metadata[0] == 248 => metadata[1],
        254 => return behind(if metadata[0] & 0x30 == 0x30 { 1 } else { 2 }),
        246 => digits(metadata[0] - metadata[1]) + digits(metadata[1]),
        _ => return Err(format!("type {kind} is not known")),
    })
}
