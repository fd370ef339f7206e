// A testee of Canal: the LogDecoder of its dbsync library over files, in the protocol of docs/conform.md.

import com.taobao.tddl.dbsync.binlog.LogBuffer;
import com.taobao.tddl.dbsync.binlog.LogContext;
import com.taobao.tddl.dbsync.binlog.LogDecoder;
import com.taobao.tddl.dbsync.binlog.LogEvent;
import com.taobao.tddl.dbsync.binlog.LogPosition;
import com.taobao.tddl.dbsync.binlog.event.DeleteRowsLogEvent;
import com.taobao.tddl.dbsync.binlog.event.FormatDescriptionLogEvent;
import com.taobao.tddl.dbsync.binlog.event.RowsLogBuffer;
import com.taobao.tddl.dbsync.binlog.event.RowsLogEvent;
import com.taobao.tddl.dbsync.binlog.event.TableMapLogEvent;
import com.taobao.tddl.dbsync.binlog.event.WriteRowsLogEvent;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class Testee {
    // How it shows values: numbers signed, since it asks the server for the rest; strings in the character set that it
    // is given, which is one that keeps the stored bytes; moments as text.
    private static final String FORMS = """
        {"integer":"number signed","decimal":"text","float":"value","bits":"digits","year":"text","date":"text",
        "datetime":"value","timestamp":"value","time":"value","enum":"number","set":"number","text":"hex",
        "bytes":"hex","json":"value","geometry":"hex","vector":"hex","diffs":"none"}""".replace("\n", "");
    private static final Pattern FIELD = Pattern.compile("\"(id|hello|file)\": *(?:(\\d+)|\"((?:[^\"\\\\]|\\\\.)*)\")");
    // It keeps all bytes of strings; documents have to be read as what they are.
    private static final Charset STORED = StandardCharsets.ISO_8859_1;
    private static final int MAGIC = 4, HEADER = 19, SIZE = 9, BEHIND = 1 << 12;

    private final PrintStream out;
    private final LogDecoder decoder = new LogDecoder(LogEvent.UNKNOWN_EVENT, LogEvent.ENUM_END_EVENT);
    private final LogContext context = new LogContext();

    private Testee(PrintStream out) {
        this.out = out;
        context.setLogPosition(new LogPosition(""));
        context.setFormatDescription(new FormatDescriptionLogEvent(4, LogEvent.BINLOG_CHECKSUM_ALG_OFF));
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char unit : text.toCharArray()) {
            if (unit == '"' || unit == '\\') {
                quoted.append('\\').append(unit);
            } else if (unit < ' ' || Character.isSurrogate(unit)) {
                quoted.append(String.format("\\u%04x", (int) unit));
            } else {
                quoted.append(unit);
            }
        }
        return quoted.append('"').toString();
    }

    private static Charset charset(TableMapLogEvent table) {
        for (TableMapLogEvent.ColumnInfo column : table.getColumnInfo()) {
            if (column.type == LogEvent.MYSQL_TYPE_JSON) {
                return StandardCharsets.UTF_8;
            }
        }
        return STORED;
    }

    private static String value(Object found, int type, Charset charset) {
        if (found instanceof byte[] bytes) {
            return quote(HexFormat.of().formatHex(bytes));
        }
        if (found instanceof BigDecimal decimal) {
            return quote(decimal.toPlainString());
        }
        if (found instanceof String text) {
            return switch (type) {
                case LogEvent.MYSQL_TYPE_STRING, LogEvent.MYSQL_TYPE_VAR_STRING, LogEvent.MYSQL_TYPE_VARCHAR,
                    LogEvent.MYSQL_TYPE_BLOB -> quote(HexFormat.of().formatHex(text.getBytes(charset)));
                default -> quote(text);
            };
        }
        boolean whole = found instanceof Integer || found instanceof Long || found instanceof BigInteger;
        boolean number = whole && type != LogEvent.MYSQL_TYPE_BIT;
        // JSON has no NaN and no infinity.
        return number || found == null ? String.valueOf(found) : quote(found.toString());
    }

    private static String image(RowsLogBuffer buffer, BitSet present, TableMapLogEvent table) {
        StringJoiner cells = new StringJoiner(",", "[", "]");
        TableMapLogEvent.ColumnInfo[] columns = table.getColumnInfo();
        for (int column = 0; column < table.getColumnCnt(); column++) {
            if (present.get(column)) {
                Serializable found = Release.value(buffer, columns, column);
                String shown = value(buffer.isNull() ? null : found, columns[column].type, charset(table));
                cells.add("{\"column\":" + (column + 1) + ",\"value\":" + shown + "}");
            }
        }
        return cells.toString();
    }

    private void rows(RowsLogEvent event, String place) {
        TableMapLogEvent table = event.getTable();
        RowsLogBuffer buffer = Release.rows(event, charset(table));
        BitSet columns = event.getColumns();
        while (buffer.nextOneRow(columns)) {
            String kind = "update";
            String before = "null";
            String after = "null";
            if (Release.isInsert(event)) {
                kind = "insert";
                after = image(buffer, columns, table);
            } else if (Release.isDelete(event)) {
                kind = "delete";
                before = image(buffer, columns, table);
            } else {
                before = image(buffer, columns, table);
                if (!Release.nextAfter(buffer, event.getChangeColumns())) {
                    break;
                }
                after = image(buffer, event.getChangeColumns(), table);
            }
            out.println("{\"row\":{" + place + ",\"kind\":\"" + kind + "\",\"database\":" + quote(table.getDbName())
                + ",\"table\":" + quote(table.getTableName()) + ",\"before\":" + before + ",\"after\":" + after + "}}");
        }
    }

    private void show(LogEvent event, String place) throws IOException {
        if (event instanceof RowsLogEvent rows) {
            rows(rows, place);
            return;
        }
        int inner = 0;
        for (LogEvent within : Release.within(decoder, event, context)) {
            show(within, place + ",\"inner\":" + ++inner);
        }
    }

    // What there is of the event at a place, whose header says how long it is, and of those behind it.
    private static byte[] event(RandomAccessFile file, long offset) throws IOException {
        byte[] header = new byte[(int) Math.min(HEADER, file.length() - offset)];
        file.seek(offset);
        file.readFully(header);
        long size = header.length < HEADER ? 0 : Integer.toUnsignedLong(new LogBuffer(header, 0, HEADER).getInt32(SIZE));
        byte[] event = new byte[(int) Math.min(Math.max(size, HEADER) + BEHIND, file.length() - offset)];
        file.seek(offset);
        file.readFully(event);
        return event;
    }

    private String read(String name) throws IOException {
        long offset = MAGIC;
        try (RandomAccessFile file = new RandomAccessFile(name, "r")) {
            if (file.length() < MAGIC || file.read() != 0xfe) {
                throw new IOException("not a binary log");
            }
            while (offset < file.length()) {
                // Its fetchers give the decoder what has come of the file, and it says how much of that it took.
                byte[] rest = event(file, offset);
                LogBuffer buffer = new LogBuffer(rest, 0, rest.length);
                LogEvent event = decoder.decode(buffer, context);
                if (event == null) {
                    throw new IOException("no whole event at " + offset);
                }
                int taken = rest.length - buffer.limit();
                show(event, "\"offset\":" + offset);
                offset += taken;
            }
        } catch (Exception | StackOverflowError | OutOfMemoryError problem) {
            Throwable root = problem;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            StackTraceElement[] trace = root.getStackTrace();
            // Where the memory ends is chance, and Java does not always know it.
            boolean placed = trace.length > 0 && !(root instanceof OutOfMemoryError);
            String message = root + (placed ? " at " + trace[0] : "");
            String shown = quote(message.substring(0, Math.min(400, message.length())));
            return "\"end\":\"" + (problem instanceof Error ? "crashed" : "refused") + "\",\"message\":" + shown;
        }
        return "\"end\":\"ok\"";
    }

    public static void main(String[] args) throws IOException {
        String hello = "{\"name\":\"" + args[0] + "\",\"version\":\"" + args[1]
            + "\",\"language\":\"Java\",\"levels\":[\"rows\"],\"forms\":" + FORMS + ",\"limits\":["
            + "\"it asks the server which integers are unsigned: they are compared as signed ones\","
            + "\"partial updates of JSON are SQL expressions, which are not compared\"]}";
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // The library logs there.
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            Map<String, String> asked = new HashMap<>();
            for (Matcher field = FIELD.matcher(line); field.find();) {
                String text = field.group(3);
                asked.put(field.group(1), text == null ? field.group(2) : text.replaceAll("\\\\(.)", "$1"));
            }
            String answer = asked.containsKey("hello") ? "\"hello\":" + hello : new Testee(out).read(asked.get("file"));
            out.println("{\"id\":" + asked.get("id") + "," + answer + "}");
            out.flush();
        }
    }
}
