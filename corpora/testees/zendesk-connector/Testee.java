// A testee of mysql-binlog-connector-java: its BinaryLogFileReader over files, in the protocol of docs/conform.md.
// Zendesk's library and Debezium's have the same classes: one of them is on the class path.

import com.github.shyiko.mysql.binlog.BinaryLogFileReader;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.EventHeaderV4;
import com.github.shyiko.mysql.binlog.event.TableMapEventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class Testee {
    private static final Pattern FIELD = Pattern.compile("\"(id|hello|file)\": *(?:(\\d+)|\"((?:[^\"\\\\]|\\\\.)*)\")");

    // Bytes that hold the first event of any file that a server wrote.
    private static final int BEGINNING = 1 << 12;

    private final PrintStream out;
    private final Map<Long, TableMapEventData> tables = new HashMap<>();
    private long offset = BinaryLogFileReader.MAGIC_HEADER.length;

    private Testee(PrintStream out) {
        this.out = out;
    }

    static String quote(String text) {
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

    // An image has the values of the columns that are present; the event knows which.
    private static String image(Object[] row, BitSet present, TableMapEventData table) throws IOException {
        StringJoiner cells = new StringJoiner(",", "[", "]");
        int column = present.nextSetBit(0);
        for (Object found : row) {
            String value = Values.of(found, table.getColumnTypes()[column] & 255);
            cells.add("{\"column\":" + (column + 1) + ",\"value\":" + value + "}");
            column = present.nextSetBit(column + 1);
        }
        return cells.toString();
    }

    private void row(String place, String kind, TableMapEventData table, String before, String after) {
        out.println("{\"row\":{" + place + ",\"kind\":\"" + kind + "\",\"database\":" + quote(table.getDatabase())
            + ",\"table\":" + quote(table.getTable()) + ",\"before\":" + before + ",\"after\":" + after + "}}");
    }

    private void show(Event event, String place) throws IOException {
        EventData data = event.getData();
        if (data instanceof EventDeserializer.EventDataWrapper wrapper) {
            data = wrapper.getInternal();
        }
        if (data instanceof TableMapEventData table) {
            tables.put(table.getTableId(), table);
        } else if (data instanceof WriteRowsEventData rows) {
            TableMapEventData table = tables.get(rows.getTableId());
            for (Serializable[] row : rows.getRows()) {
                row(place, "insert", table, "null", image(row, rows.getIncludedColumns(), table));
            }
        } else if (data instanceof DeleteRowsEventData rows) {
            TableMapEventData table = tables.get(rows.getTableId());
            for (Serializable[] row : rows.getRows()) {
                row(place, "delete", table, image(row, rows.getIncludedColumns(), table), "null");
            }
        } else if (data instanceof UpdateRowsEventData rows) {
            TableMapEventData table = tables.get(rows.getTableId());
            for (Map.Entry<Serializable[], Serializable[]> row : rows.getRows()) {
                String before = image(row.getKey(), rows.getIncludedColumnsBeforeUpdate(), table);
                row(place, "update", table, before, image(row.getValue(), rows.getIncludedColumns(), table));
            }
        }
        int inner = 0;
        for (Event within : Release.within(data)) {
            show(within, place + ",\"inner\":" + ++inner);
        }
    }

    private String read(String file) throws IOException {
        EventDeserializer deserializer = new EventDeserializer();
        Values.prepare(deserializer);
        try (InputStream beginning = Files.newInputStream(Path.of(file))) {
            Release.prepare(deserializer, beginning.readNBytes(BEGINNING));
        }
        try (BinaryLogFileReader reader = new BinaryLogFileReader(new File(file), deserializer)) {
            for (Event event = reader.readEvent(); event != null; event = reader.readEvent()) {
                show(event, "\"offset\":" + offset);
                EventHeaderV4 header = event.getHeader();
                offset += header.getEventLength();
            }
        } catch (Exception | StackOverflowError | OutOfMemoryError problem) {
            Throwable root = problem;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            String end = problem instanceof Error ? "crashed" : "refused";
            StackTraceElement[] trace = root.getStackTrace();
            // Where the memory ends is chance, and Java does not always know it.
            boolean placed = trace.length > 0 && !(root instanceof OutOfMemoryError);
            String message = root + (placed ? " at " + trace[0] : "");
            String shown = quote(message.substring(0, Math.min(400, message.length())));
            return "\"end\":\"" + end + "\",\"message\":" + shown;
        }
        return "\"end\":\"ok\"";
    }

    public static void main(String[] args) throws IOException {
        String hello = "{\"name\":\"" + args[0] + "\",\"version\":\"" + args[1]
            + "\",\"language\":\"Java\",\"levels\":[\"rows\"],\"forms\":" + Values.FORMS + "}";
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
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
