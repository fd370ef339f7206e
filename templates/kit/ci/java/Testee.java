// A testee: it answers requests with the rows of binary logs, a JSON object a line (PROTOCOL.md of the kit).

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class Testee {
    // How the reader shows values: PROTOCOL.md has all forms. What is not named here is shown as the kit has it.
    private static final String HELLO = """
        {"name":"my-reader","version":"1","language":"Java","levels":["rows"],"forms":{"integer":"number",
        "decimal":"text","float":"value","bits":"text","year":"number","date":"text","datetime":"text","timestamp":"text",
        "time":"text","enum":"number","set":"number","text":"text","bytes":"hex","json":"value","geometry":"none",
        "vector":"none","diffs":"none"}}""".replace("\n", "");

    /** kind: insert, update, delete; images are values by column, from 1: before is null for an insert, after for a delete. */
    record Row(String kind, String database, String table, Map<Integer, Object> before, Map<Integer, Object> after) {}

    /** Shows the rows of a log one after the other, as it reads them: call your reader here. flavor: mysql or mariadb. */
    static void readRows(String path, String flavor, Consumer<Row> show) throws Exception {
        throw new IOException("readRows is to be filled in");
    }

    public static void main(String[] args) throws IOException {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String answer = "\"hello\":" + HELLO;
            if (!line.contains("\"hello\"")) {
                answer = end(field(line, "file"), field(line, "flavor"), row -> out.println("{\"row\":" + json(row) + "}"));
            }
            out.println("{\"id\":" + line.replaceAll(".*\"id\": *(\\d+).*", "$1") + "," + answer + "}");
            out.flush();
        }
    }

    private static String end(String path, String flavor, Consumer<Row> show) {
        try {
            readRows(path, flavor, show);
            return "\"end\":\"ok\"";
        } catch (Exception problem) {
            return "\"end\":\"refused\",\"message\":" + quoted(String.valueOf(problem.getMessage()));
        } catch (StackOverflowError | OutOfMemoryError problem) {
            return "\"end\":\"crashed\",\"message\":" + quoted(problem.toString());
        }
    }

    private static String field(String line, String name) {
        Matcher found = Pattern.compile("\"" + name + "\": *\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(line);
        return found.find() ? found.group(1).replaceAll("\\\\(.)", "$1") : "";
    }

    private static String json(Row row) {
        return "{\"kind\":" + quoted(row.kind) + ",\"database\":" + quoted(row.database) + ",\"table\":" + quoted(row.table)
            + ",\"before\":" + image(row.before) + ",\"after\":" + image(row.after) + "}";
    }

    private static String image(Map<Integer, Object> image) {
        if (image == null) {
            return "null";
        }
        StringJoiner cells = new StringJoiner(",", "[", "]");
        image.forEach((column, value) -> cells.add("{\"column\":" + column + ",\"value\":" + value(value) + "}"));
        return cells.toString();
    }

    private static String value(Object value) {
        if (value instanceof List<?> list) {
            StringJoiner values = new StringJoiner(",", "[", "]");
            list.forEach(one -> values.add(value(one)));
            return values.toString();
        }
        return value == null || value instanceof Integer || value instanceof Long ? "" + value : quoted(value.toString());
    }

    private static String quoted(String text) {
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
}
