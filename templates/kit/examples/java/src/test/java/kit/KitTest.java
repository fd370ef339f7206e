package kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.opentest4j.TestAbortedException;

class KitTest {
    /** The phases that the reader finds errors in. Faults in metadata are not its business. */
    private static final Set<String> PHASES = Set.of("framing", "checksum", "row");

    private static final Path KIT = Path.of(Optional.ofNullable(System.getenv("KIT")).orElse("../.."));

    private static List<JsonObject> lines(Path path) throws IOException {
        return Files.readAllLines(path).stream().map(line -> JsonParser.parseString(line).getAsJsonObject()).toList();
    }

    @TestFactory
    Stream<DynamicTest> everyCase() throws IOException {
        return lines(KIT.resolve("index.jsonl")).stream()
                .filter(KitTest::isCompared)
                .map(one -> DynamicTest.dynamicTest(one.get("id").getAsString(), () -> check(one)));
    }

    private static boolean isCompared(JsonObject one) {
        return switch (one.get("verdict").getAsString()) {
            case "accept" -> true;
            case "reject" -> PHASES.contains(one.get("phase").getAsString());
            default -> false;
        };
    }

    private static void check(JsonObject one) {
        try {
            compare(one);
        } catch (TestAbortedException skipped) {
            throw skipped;
        } catch (Throwable error) {
            throw new AssertionError(one.get("id").getAsString() + ": " + error.getMessage(), error);
        }
    }

    private static void compare(JsonObject one) throws IOException {
        boolean reject = one.get("verdict").getAsString().equals("reject");
        for (JsonElement file : one.getAsJsonArray("files")) {
            if (file.getAsJsonObject().has("holes")) {
                String why = " is larger than an array of Java: examples/go reads such files";
                Assumptions.abort("not read: " + one.get("id").getAsString() + why);
            }
            String name = file.getAsJsonObject().get("name").getAsString();
            Path path = KIT.resolve("cases").resolve(one.get("id").getAsString()).resolve(name);
            byte[] data = Files.readAllBytes(path);
            Reader reader = new Reader();
            JsonElement stop = file.getAsJsonObject().get("stops_at");
            if (reject && !stop.isJsonNull()) {
                try {
                    reader.read(data);
                } catch (Exception refused) {
                    continue;
                }
                assertTrue(reader.skipped.contains(stop.getAsLong()), "it must be refused: " + one.get("phase"));
                continue;
            }
            reader.read(data);
            compareEvents(lines(path.resolveSibling(name + ".events.jsonl")), reader);
            compareRows(lines(path.resolveSibling(name + ".rows.jsonl")), reader);
        }
    }

    private static void compareEvents(List<JsonObject> expected, Reader reader) {
        Iterator<Reader.Event> given = reader.events.iterator();
        for (JsonObject event : expected) {
            if (event.has("inner")) {
                continue; // inside a payload
            }
            Reader.Event right = new Reader.Event(
                    number(event, "offset"), number(event, "type_code"), number(event, "event_size"),
                    number(event, "log_pos"), number(event, "timestamp"), number(event, "server_id"));
            assertTrue(given.hasNext(), "the event at " + right.offset() + " is missing");
            assertEquals(right, given.next());
        }
    }

    private static long number(JsonObject event, String name) {
        return event.get(name).getAsLong();
    }

    private static void compareRows(List<JsonObject> expected, Reader reader) {
        Iterator<Reader.Row> given = reader.rows.iterator();
        for (JsonObject right : expected) {
            long offset = number(right, "offset");
            if (right.has("inner") || reader.skipped.contains(offset)) {
                continue;
            }
            assertTrue(given.hasNext(), "the row at " + offset + " is missing");
            Reader.Row row = given.next();
            assertEquals(offset, row.offset());
            assertEquals(right.get("kind").getAsString(), row.kind());
            compareName(right.get("database"), row.database());
            compareName(right.get("table"), row.table());
            assertEquals(image(right.get("before")), image(row.before()), "before image at " + offset);
            assertEquals(image(right.get("after")), image(row.after()), "after image at " + offset);
        }
        assertEquals(false, given.hasNext(), "it shows a row too many");
    }

    private static void compareName(JsonElement right, byte[] given) {
        if (right.isJsonPrimitive()) { // Names that are not UTF-8 are hex in the kit.
            assertEquals(right.getAsString(), new String(given, StandardCharsets.UTF_8));
        }
    }

    private static String image(JsonElement cells) {
        return cells.isJsonNull() ? "none" : cells.getAsJsonArray().asList().stream()
                .map(JsonElement::getAsJsonObject)
                .map(cell -> cell.get("column") + "=" + (cell.get("raw").isJsonNull() ? null : cell.get("raw").getAsString()))
                .collect(Collectors.joining(" "));
    }

    private static String image(List<Reader.Cell> cells) {
        return cells == null ? "none" : cells.stream().map(cell -> cell.column() + "=" + cell.raw()).collect(Collectors.joining(" "));
    }
}
