// A testee of zongji: its binlog packets over files, in the protocol of docs/conform.md.
//
// The connection that its stream reader would have is stood in for.  Where the log does not name columns, zongji asks
// the server for them: rows of such tables are gaps here.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import readline from 'node:readline';

const library = new URL('./node_modules/@vlasky/zongji/', import.meta.url);
const { default: initBinlogPacketClass } = await import(new URL('lib/packet/binlog.js', library));
const { Parser } = await import(new URL('lib/reader.js', library));
const { version } = createRequire(import.meta.url)(new URL('package.json', library).pathname);

// How zongji shows values with dateStrings and jsonStrings: numbers or their text, members as text, buffers.
const forms = {
  integer: 'text', decimal: 'text', float: 'value', bits: 'hex', year: 'number', date: 'text', datetime: 'text',
  timestamp: 'text', time: 'text', enum: 'text', set: 'texts', text: 'text-or-hex', bytes: 'text-or-hex padded',
  json: 'value', geometry: 'none', vector: 'none',
};
const hello = {
  name: 'zongji', version, language: 'JavaScript', levels: ['rows'], forms,
  limits: ['where the log does not name columns, it asks the server: such rows are left out'],
};
const MAGIC = Buffer.from('fe62696e', 'hex');
const HEADER = 19, FORMAT_DESCRIPTION = 15, BIT = 16, YEAR = 13, JSON_TYPE = 245, SET = 248, FLOAT = 4, DOUBLE = 5;
const KINDS = { WriteRows: 'insert', UpdateRows: 'update', DeleteRows: 'delete' };

class Unsupported extends Error {}

// What packets ask of the object that reads the stream.
function reader(flavor, useChecksum) {
  return {
    useChecksum, tableMap: {}, isMariaDb: flavor === 'mariadb', options: {},
    connection: { config: { dateStrings: true, jsonStrings: true, timezone: 'Z' } },
    _skipSchema: () => false,
    _warnUnsupportedEvent: (event) => { throw new Unsupported(event.unsupportedReason); },
    emit: (name, error) => { throw new Unsupported(String(error && error.message)); },
  };
}

// What a client asks the server for before it reads: @@binlog_checksum, here out of FORMAT_DESCRIPTION.
function hasChecksums(raw) {
  const server = raw.toString('latin1', 21, 71).split('\0')[0];
  const numbers = (server.match(/\d+/g) || []).slice(0, 3).map((digits) => digits.padStart(4, '0')).join('.');
  const since = server.includes('MariaDB') ? '0005.0003.0000' : '0005.0006.0001';
  return raw[4] === FORMAT_DESCRIPTION && numbers >= since && raw[raw.length - 5] === 1;
}

function spelled(value, type) {
  if (value === null || value === undefined) return null;
  if (type === SET) return value === '' ? [] : value.split(',');
  if (Buffer.isBuffer(value)) return type === BIT ? value.toString('hex') : { hex: value.toString('hex') };
  if (type === YEAR || type === JSON_TYPE || typeof value === 'object') return value;
  // JSON has no NaN and no infinity; -0 is a number of its own.
  if (type === FLOAT || type === DOUBLE) return Object.is(value, -0) ? '-0' : String(value);
  return String(value);
}

function image(row, present, table) {
  const cells = [];
  table.columns.forEach((column, index) => {
    if (present[index >> 3] & (1 << (index % 8))) {
      cells.push({ column: index + 1, value: spelled(row[column.name], column.type) });
    }
  });
  return cells;
}

function answer(line) {
  process.stdout.write(JSON.stringify(line) + '\n');
}

function rows(event, table, offset) {
  const kind = KINDS[event.getTypeName()];
  const present = event.columns_present_bitmap;
  for (const row of event.rows) {
    const update = kind === 'update';
    const before = kind === 'insert' ? null : image(update ? row.before : row, present, table);
    const after = kind === 'delete' ? null
      : image(update ? row.after : row, update ? event.columns_present_bitmap2 : present, table);
    answer({ row: { offset, kind, database: table.parentSchema, table: table.tableName, before, after } });
  }
}

// As ZongJi's own handler of TableMap does where it need not ask the server.
function map(event, zongji) {
  delete zongji.tableMap[event.tableId];
  if (event.hasSelfDescribingMetadata() && !(zongji.isMariaDb && event.hasAmbiguousTemporalColumns())) {
    zongji.tableMap[event.tableId] = {
      columnSchemas: event.buildColumnSchemas(), parentSchema: event.schemaName, tableName: event.tableName,
    };
    event.updateColumnInfo();
  }
}

function read(request) {
  const data = fs.readFileSync(request.file);
  let offset = MAGIC.length, zongji, Packet;
  try {
    if (!data.subarray(0, offset).equals(MAGIC)) throw new Error('not a binary log');
    while (offset < data.length) {
      const size = offset + HEADER <= data.length ? data.readUInt32LE(offset + 9) : 0;
      if (size < HEADER || offset + size > data.length) throw new Error(`no whole event at ${offset}`);
      const raw = data.subarray(offset, offset + size);
      if (!zongji) {
        zongji = reader(request.flavor, hasChecksums(raw));
        Packet = initBinlogPacketClass(zongji);
      }
      const packet = new Packet();
      const buffer = Buffer.concat([Buffer.from([0]), raw]);
      packet.parse(new Parser({ buffer, offset: 0, end: buffer.length }));
      const event = packet.getEvent();
      const name = event ? event.getTypeName() : '';
      if (name === 'TableMap') {
        map(event, zongji);
      } else if (name in KINDS && event._filtered) {
        answer({ gap: { offset, what: 'the log does not name the columns' } });
      } else if (name in KINDS) {
        rows(event, zongji.tableMap[event.tableId], offset);
      }
      offset += size;
    }
  } catch (error) {
    const end = error instanceof Unsupported ? 'unsupported' : 'refused';
    return { end, message: `the event at ${offset}: ${error.name}: ${error.message}`.slice(0, 400) };
  }
  return { end: 'ok' };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  answer({ id: request.id, ...('hello' in request ? { hello } : read(request)) });
}
