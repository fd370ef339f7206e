// A testee of zongji: its binlog packets over files, in the protocol of docs/conform.md.
//
// The connection that its stream reader would have is stood in for (decoder.js).

import fs from 'node:fs';
import readline from 'node:readline';

import { Log, Unsupported, limits, version } from './decoder.js';

// How zongji shows values with dateStrings and jsonStrings: numbers or their text, members as text, buffers.
const forms = {
  integer: 'text', decimal: 'text', float: 'value', bits: 'hex', year: 'number', date: 'text', datetime: 'text',
  timestamp: 'text', time: 'text', enum: 'text', set: 'texts', text: 'text-or-hex', bytes: 'text-or-hex padded',
  json: 'value', geometry: 'none', vector: 'none',
};
const hello = {
  name: 'zongji', version, language: 'JavaScript', levels: ['rows'], forms, limits,
};
const MAGIC = Buffer.from('fe62696e', 'hex');
const HEADER = 19, BIT = 16, YEAR = 13, JSON_TYPE = 245, SET = 248, FLOAT = 4, DOUBLE = 5;
const KINDS = { WriteRows: 'insert', UpdateRows: 'update', DeleteRows: 'delete' };

function spelled(value, type) {
  if (value === null || value === undefined) return null;
  if (type === SET) return value === '' ? [] : value.split(',');
  if (Buffer.isBuffer(value)) return type === BIT ? value.toString('hex') : { hex: value.toString('hex') };
  if (type === YEAR || type === JSON_TYPE || typeof value === 'object') return value;
  // JSON has no NaN and no infinity; -0 is a number of its own.
  if (type === FLOAT || type === DOUBLE) return Object.is(value, -0) ? '-0' : String(value);
  return String(value);
}

// The first releases do not keep which columns are present.
function image(row, present, table) {
  const cells = [];
  table.columns.forEach((column, index) => {
    if (!present || present[index >> 3] & (1 << (index % 8))) {
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

function bytesAt(file, offset, size) {
  const data = Buffer.alloc(size);
  return data.subarray(0, fs.readSync(file, data, 0, size, offset));
}

function read(request) {
  const file = fs.openSync(request.file);
  const end = fs.fstatSync(file).size;
  let offset = MAGIC.length, log;
  try {
    if (!bytesAt(file, 0, offset).equals(MAGIC)) throw new Error('not a binary log');
    while (offset < end) {
      const size = offset + HEADER <= end ? bytesAt(file, offset, HEADER).readUInt32LE(9) : 0;
      if (size < HEADER || offset + size > end) throw new Error(`no whole event at ${offset}`);
      const raw = bytesAt(file, offset, size);
      log ??= new Log(request.flavor, raw);
      const event = log.event(raw);
      const name = event ? event.getTypeName() : '';
      if (name in KINDS && event._filtered) {
        answer({ gap: { offset, what: 'the log does not name the columns' } });
      } else if (name in KINDS) {
        rows(event, log.tables[event.tableId], offset);
      }
      offset += size;
    }
  } catch (error) {
    const word = error instanceof Unsupported ? 'unsupported' : 'refused';
    return { end: word, message: `the event at ${offset}: ${error.name}: ${error.message}`.slice(0, 400) };
  } finally {
    fs.closeSync(file);
  }
  return { end: 'ok' };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  answer({ id: request.id, ...('hello' in request ? { hello } : read(request)) });
}
