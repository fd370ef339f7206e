// For releases that do not know TRANSACTION_PAYLOAD.

import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import java.util.List;

final class Release {
    private Release() {}

    static void prepare(EventDeserializer deserializer, byte[] data) {}

    static List<Event> within(EventData data) {
        return List.of();
    }
}
