// zongji before 0.9, as the testee drives it: it asks the server for the columns of a table.
//
// The locked release stands in for the server: its answer is what that release reads of the columns in the log, where
// the log names them (newest.js).

import { createRequire } from 'node:module';

import { Log as Newest, Unsupported, packetOf, reader } from './newest.js';

const require = createRequire(import.meta.url);
const library = new URL('./node_modules/older/', import.meta.url);

export { Unsupported };
export const { version } = require(new URL('package.json', library).pathname);
export const limits = ['the server that it asks for columns is stood in for: rows of tables without names are left out'];

// Before 0.6 it takes the parser of the client; before 0.5, packets are told of the reader otherwise.
const [, minor] = version.split('.').map(Number);
const early = minor < 5;
const clients = minor < 6;
const { default: packets } = await import(new URL(early ? 'lib/packet/binlog_header.js' : 'lib/packet/binlog.js', library));
const Parser = clients ? require('mysql/lib/protocol/Parser') : (await import(new URL('lib/reader.js', library))).Parser;

function parserOf(buffer) {
  if (!clients) return new Parser({ buffer, offset: 0, end: buffer.length });
  return Object.assign(new Parser(), { _buffer: buffer, _offset: 0, _packetEnd: buffer.length });
}

export class Log {
  constructor(flavor, first) {
    this.server = new Newest(flavor, first);
    this.zongji = reader(flavor, first);
    const { tableMap, useChecksum } = this.zongji;
    this.Packet = early ? packets.call(this.zongji, { tableMap, useChecksum }) : packets(this.zongji);
  }

  get tables() {
    return this.zongji.tableMap;
  }

  event(raw) {
    const packet = new this.Packet();
    packet.parse(parserOf(packetOf(raw)));
    const event = packet.getEvent();
    if (event && event.getTypeName() === 'TableMap') this.map(event, raw);
    return event;
  }

  map(event, raw) {
    this.server.event(raw);
    const answer = this.server.tables[event.tableId];
    delete this.tables[event.tableId];
    if (answer) {
      this.tables[event.tableId] = { ...answer, columns: undefined };
      event.updateColumnInfo();
    }
  }
}
