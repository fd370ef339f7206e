package kit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.zip.CRC32;

/** A small reader of binary logs against the kit. Put your own reader in the place of {@link #read}. */
public final class Reader {
    /** The header of an event; offset is its place in the file. */
    public record Event(long offset, long typeCode, long eventSize, long logPos, long timestamp, long serverId) {}

    /** A value as its bytes in hex; null is NULL. Columns count from 1. */
    public record Cell(int column, String raw) {}

    /** A changed row. An image that the event does not have is null. */
    public record Row(long offset, String kind, byte[] database, byte[] table, List<Cell> before, List<Cell> after) {}

    private record Table(byte[] database, byte[] name, byte[] types, List<byte[]> metadata) {}

    /** What was read, up to an error if there was one. Rows of events in skipped are not compared. */
    public final List<Event> events = new ArrayList<>();
    public final List<Row> rows = new ArrayList<>();
    public final Set<Long> skipped = new HashSet<>();

    private final byte[] lengths = new byte[256];
    private final Map<Long, Table> tables = new HashMap<>();

    /** Bytes that are taken one after the other. */
    private static final class Bytes {
        final byte[] data;
        int at;

        Bytes(byte[] data) {
            this.data = data;
        }

        int left() {
            return data.length - at;
        }

        byte[] take(long count) throws IOException {
            if (count < 0 || count > left()) {
                throw new IOException(count + " bytes are needed, " + left() + " are left");
            }
            at += (int) count;
            return Arrays.copyOfRange(data, at - (int) count, at);
        }

        long number(int size) throws IOException {
            long number = 0;
            byte[] bytes = take(size);
            for (int place = size - 1; place >= 0; place--) {
                number = number << 8 | bytes[place] & 0xff;
            }
            return number;
        }

        long packed() throws IOException {
            int first = (int) number(1);
            return first < 252 ? first : number(first == 252 ? 2 : first == 253 ? 3 : 8);
        }

        byte[] name() throws IOException {
            byte[] name = take(number(1));
            take(1);
            return name;
        }
    }

    /** Reads a whole file. */
    public void read(byte[] data) throws IOException {
        Bytes file = new Bytes(data);
        if (!Arrays.equals(file.take(4), new byte[] {(byte) 0xfe, 'b', 'i', 'n'})) {
            throw new IOException("no binary log");
        }
        boolean checksums = false;
        while (file.left() > 0) {
            long offset = file.at;
            Bytes header = new Bytes(file.take(19));
            long timestamp = header.number(4);
            int kind = (int) header.number(1);
            long serverId = header.number(4);
            long size = header.number(4);
            file.at -= 19;
            if (size < 19) {
                throw new IOException("the event at " + offset + " has " + size + " bytes");
            }
            byte[] raw = file.take(size);
            if (kind == 15) {
                checksums = hasChecksums(raw);
                System.arraycopy(raw, 76, lengths, 1, Math.min(raw.length - 76, 255));
                raw[17] &= ~1; // The sum is that of a file which is not in use.
            }
            int end = raw.length - (checksums ? 4 : 0);
            CRC32 sum = new CRC32();
            sum.update(raw, 0, Math.max(end, 0));
            Bytes body = new Bytes(raw);
            body.at = end;
            if (checksums && sum.getValue() != body.number(4)) {
                throw new IOException("the checksum of the event at " + offset + " is wrong");
            }
            events.add(new Event(offset, kind, size, header.number(4), timestamp, serverId));
            body = new Bytes(Arrays.copyOfRange(raw, 19, end));
            // FORMAT_DESCRIPTION says how long the fixed part of a type is: what is more than usual is passed over.
            long more = Math.max((lengths[kind] & 0xff) - (kind < 30 ? 8 : 10), 0);
            switch (kind) {
                case 19 -> tables.put(body.number(6), tableMap(body, more));
                case 23, 24, 25, 30, 31, 32 -> rows(offset, kind, body, more);
                default -> skipped.add(offset);
            }
        }
    }

    private static boolean hasChecksums(byte[] raw) {
        String version = new String(raw, 21, 50, StandardCharsets.ISO_8859_1);
        long value = 0;
        for (String part : Arrays.asList(version.split("[^0-9]+")).subList(0, 3)) {
            value = value * 1000 + Long.parseLong(part);
        }
        return value >= (version.contains("MariaDB") ? 5003000 : 5006001) && raw[raw.length - 5] == 1;
    }

    private static Table tableMap(Bytes body, long more) throws IOException {
        body.take(2 + more);
        byte[] database = body.name();
        byte[] name = body.name();
        byte[] types = body.take(body.packed());
        Bytes block = new Bytes(body.take(body.packed()));
        List<byte[]> metadata = new ArrayList<>();
        for (byte kind : types) {
            switch (kind & 0xff) {
                case 20, 244 -> {
                    return new Table(database, name, types, List.of()); // The rows of such tables are not read here.
                }
                case 4, 5, 17, 18, 19, 140, 242, 245, 252, 255 -> metadata.add(block.take(1));
                case 15, 16, 141, 246, 247, 248, 253, 254 -> metadata.add(block.take(2));
                default -> metadata.add(new byte[0]);
            }
        }
        return new Table(database, name, types, metadata);
    }

    private void rows(long offset, int kind, Bytes body, long more) throws IOException {
        Table table = tables.get(body.number(6));
        body.take(2);
        long extra = kind < 30 ? 0 : body.number(2) - 2;
        body.take(more + extra);
        long count = body.packed();
        if (table == null || count != table.types.length) {
            throw new IOException("no table is mapped, or one with other columns");
        }
        if (table.metadata.size() < count) {
            skipped.add(offset);
            return;
        }
        String word = List.of("insert", "update", "delete").get(kind % 7 - 2);
        byte[] first = body.take((count + 7) / 8);
        byte[] second = word.equals("update") ? body.take((count + 7) / 8) : first;
        int start;
        do {
            start = body.at;
            List<Cell> before = word.equals("insert") ? null : image(table, first, body);
            List<Cell> after = word.equals("delete") ? null : image(table, second, body);
            rows.add(new Row(offset, word, table.database, table.name, before, after));
        } while (body.left() > 0 && body.at > start);
    }

    private static List<Cell> image(Table table, byte[] present, Bytes body) throws IOException {
        List<Integer> columns = new ArrayList<>();
        for (int column = 0; column < table.types.length; column++) {
            if ((present[column / 8] >> column % 8 & 1) == 1) {
                columns.add(column);
            }
        }
        byte[] nulls = body.take((columns.size() + 7) / 8);
        List<Cell> cells = new ArrayList<>();
        for (int number = 0; number < columns.size(); number++) {
            int column = columns.get(number);
            String raw = null;
            if ((nulls[number / 8] >> number % 8 & 1) == 0) {
                long size = width(table.types[column] & 0xff, table.metadata.get(column), body);
                raw = HexFormat.of().formatHex(body.take(size));
            }
            cells.add(new Cell(column + 1, raw));
        }
        return cells;
    }

    /** How many bytes a value takes, the length in front of it among them. */
    private static long width(int kind, byte[] metadata, Bytes body) throws IOException {
        int one = metadata.length > 0 ? metadata[0] & 0xff : 0;
        int two = metadata.length > 1 ? metadata[1] & 0xff : 0;
        return switch (kind) {
            case 1, 13 -> 1;
            case 2 -> 2;
            case 9, 10, 11, 14 -> 3;
            case 3, 4, 7 -> 4;
            case 5, 8, 12 -> 8;
            case 17 -> 4 + (one + 1) / 2;
            case 18 -> 5 + (one + 1) / 2;
            case 19 -> 3 + (one + 1) / 2;
            case 16 -> two + (one + 7) / 8;
            case 15, 141, 253 -> behind(two > 0 ? 2 : 1, body);
            case 140, 242, 245, 252, 255 -> behind(one, body);
            case 247, 248 -> two;
            case 254 -> one == 247 || one == 248 ? two : behind((one & 0x30) == 0x30 ? 1 : 2, body);
            case 246 -> digits(one - two) + digits(two);
            default -> throw new IOException("type " + kind + " is not known");
        };
    }

    private static long behind(int prefix, Bytes body) throws IOException {
        long size = body.number(prefix);
        body.at -= prefix;
        return prefix + size;
    }

    private static int digits(int count) {
        return count / 9 * 4 + (count % 9 + 1) / 2;
    }
}
