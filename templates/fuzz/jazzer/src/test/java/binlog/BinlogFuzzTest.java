package binlog;

import com.code_intelligence.jazzer.junit.DictionaryFile;
import com.code_intelligence.jazzer.junit.FuzzTest;
import com.github.shyiko.mysql.binlog.BinaryLogFileReader;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import org.junit.jupiter.api.Assertions;

/**
 * A fuzz target for mysql-binlog-connector-java; to try your reader, put it into the place of read.
 *
 * <p>{@code JAZZER_FUZZ=1 mvn test} runs it for a minute, {@code mvn test} runs the seeds alone. An exception is fine. An
 * Error (a stack or memory of 1 GiB that runs out) and a log that takes over ten seconds are not.
 */
class BinlogFuzzTest {
    private static void read(byte[] log) throws Exception {
        try (BinaryLogFileReader reader = new BinaryLogFileReader(new ByteArrayInputStream(log), new EventDeserializer())) {
            for (Event event = reader.readEvent(); event != null; event = reader.readEvent()) {}
        }
    }

    @DictionaryFile(resourcePath = "binlog.dict")
    @FuzzTest(maxDuration = "60s")
    void readBinlog(byte[] log) {
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            try {
                read(log);
            } catch (Exception refused) {
                // An error is an answer.
            }
        });
    }
}
