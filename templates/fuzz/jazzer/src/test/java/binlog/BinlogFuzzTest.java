package binlog;

import com.code_intelligence.jazzer.junit.DictionaryFile;
import com.code_intelligence.jazzer.junit.FuzzTest;
import com.github.shyiko.mysql.binlog.BinaryLogFileReader;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.TransactionPayloadEventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Assertions;

/**
 * A fuzz target for mysql-binlog-connector-java; to try your reader, put it into the place of read.
 *
 * <p>{@code JAZZER_FUZZ=1 mvn test} runs it for a minute, {@code mvn test} runs the seeds alone. An exception is fine, but
 * for an unchanged seed of rows.txt, which has that many rows. An Error (a stack or memory of 1 GiB that runs out) and a
 * log that takes over ten seconds are not.
 */
class BinlogFuzzTest {
    /** The number of rows in a log. */
    private static int read(byte[] log) throws Exception {
        int rows = 0;
        try (BinaryLogFileReader reader = new BinaryLogFileReader(new ByteArrayInputStream(log), new EventDeserializer())) {
            for (Event event = reader.readEvent(); event != null; event = reader.readEvent()) {
                rows += rowsOf(event);
            }
        }
        return rows;
    }

    private static int rowsOf(Event event) {
        Object data = event.getData();
        if (data instanceof WriteRowsEventData rows) return rows.getRows().size();
        if (data instanceof UpdateRowsEventData rows) return rows.getRows().size();
        if (data instanceof DeleteRowsEventData rows) return rows.getRows().size();
        if (data instanceof TransactionPayloadEventData payload) {
            return payload.getUncompressedEvents().stream().mapToInt(BinlogFuzzTest::rowsOf).sum();
        }
        return 0;
    }

    /** The rows of each seed, by its FNV-1a. */
    private static final Map<Long, Integer> SEEDS = seeds();

    private static Map<Long, Integer> seeds() {
        Map<Long, Integer> found = new HashMap<>();
        try (InputStream text = BinlogFuzzTest.class.getResourceAsStream("rows.txt")) {
            if (text == null) return found;
            new String(text.readAllBytes(), StandardCharsets.UTF_8).lines().map(line -> line.split(" "))
                .forEach(words -> found.put(Long.parseUnsignedLong(words[0], 16), Integer.valueOf(words[1])));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return found;
    }

    private static long fnv1a(byte[] log) {
        long hash = 0xcbf29ce484222325L;
        for (byte one : log) hash = (hash ^ (one & 0xff)) * 0x100000001b3L;
        return hash;
    }

    @DictionaryFile(resourcePath = "binlog.dict")
    @FuzzTest(maxDuration = "60s")
    void readBinlog(byte[] log) {
        Integer right = SEEDS.get(fnv1a(log));
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            try {
                int rows = read(log);
                if (right != null) Assertions.assertEquals(right, rows, "the rows of a correct log");
            } catch (Exception refused) {
                if (right != null) Assertions.fail("a correct log is refused", refused);
                // Otherwise an error is an answer.
            }
        });
    }
}
