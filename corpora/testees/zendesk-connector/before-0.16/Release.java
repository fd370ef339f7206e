// For releases that do not know TRANSACTION_PAYLOAD either, and have to be told of checksums.

import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.deserialization.ChecksumType;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import java.nio.charset.StandardCharsets;
import java.util.List;

final class Release {
    private Release() {}

    // What a client asks the server for before it reads, here out of FORMAT_DESCRIPTION.
    static void prepare(EventDeserializer deserializer, byte[] data) {
        if (data.length < 80) {
            return;
        }
        int end = 4 + (data[13] & 255 | (data[14] & 255) << 8);
        String server = new String(data, 25, 50, StandardCharsets.ISO_8859_1);
        if (!server.startsWith("5.1") && !server.startsWith("5.5") && data[end - 5] == 1) {
            deserializer.setChecksumType(ChecksumType.CRC32);
        }
    }

    static List<Event> within(EventData data) {
        return List.of();
    }
}
