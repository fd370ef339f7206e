// zongji as the testee drives it: packets of events, and a stand-in for the connection that they come from.
//
// Where the log does not name columns, zongji asks the server for them: rows of such tables are left out here.

import { createRequire } from 'node:module';

const library = new URL('./node_modules/@vlasky/zongji/', import.meta.url);
const { default: initBinlogPacketClass } = await import(new URL('lib/packet/binlog.js', library));
const { Parser } = await import(new URL('lib/reader.js', library));

export const { version } = createRequire(import.meta.url)(new URL('package.json', library).pathname);
export const limits = ['where the log does not name columns, it asks the server: such rows are left out'];
const FORMAT_DESCRIPTION = 15;

export class Unsupported extends Error {}

// What a client asks the server for before it reads: @@binlog_checksum, here out of FORMAT_DESCRIPTION.
function hasChecksums(raw) {
  const server = raw.toString('latin1', 21, 71).split('\0')[0];
  const numbers = (server.match(/\d+/g) || []).slice(0, 3).map((digits) => digits.padStart(4, '0')).join('.');
  const since = server.includes('MariaDB') ? '0005.0003.0000' : '0005.0006.0001';
  return raw[4] === FORMAT_DESCRIPTION && numbers >= since && raw[raw.length - 5] === 1;
}

// What packets ask of the object that reads the stream.
export function reader(flavor, first) {
  return {
    useChecksum: hasChecksums(first), tableMap: {}, isMariaDb: flavor === 'mariadb', options: {},
    connection: { config: { dateStrings: true, jsonStrings: true, timezone: 'Z' } },
    _skipEvent: () => false,
    _skipSchema: () => false,
    _warnUnsupportedEvent: (event) => { throw new Unsupported(event.unsupportedReason); },
    emit: (name, error) => { throw new Unsupported(String(error && error.message)); },
  };
}

// As the stream reader gives them: with a byte before the event.
export function packetOf(raw) {
  return Buffer.concat([Buffer.from([0]), raw]);
}

export class Log {
  constructor(flavor, first) {
    this.zongji = reader(flavor, first);
    this.Packet = initBinlogPacketClass(this.zongji);
  }

  get tables() {
    return this.zongji.tableMap;
  }

  event(raw) {
    const packet = new this.Packet();
    const buffer = packetOf(raw);
    packet.parse(new Parser({ buffer, offset: 0, end: buffer.length }));
    const event = packet.getEvent();
    if (event && event.getTypeName() === 'TableMap') this.map(event);
    return event;
  }

  // As ZongJi's own handler of TableMap does where it need not ask the server.
  map(event) {
    delete this.tables[event.tableId];
    if (event.hasSelfDescribingMetadata() && !(this.zongji.isMariaDb && event.hasAmbiguousTemporalColumns())) {
      this.tables[event.tableId] = {
        columnSchemas: event.buildColumnSchemas(), parentSchema: event.schemaName, tableName: event.tableName,
      };
      event.updateColumnInfo();
    }
  }
}
