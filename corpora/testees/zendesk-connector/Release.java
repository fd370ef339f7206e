// What differs between releases: what they have to be told, and the events inside a payload.

import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.TransactionPayloadEventData;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import java.util.List;

final class Release {
    private Release() {}

    static void prepare(EventDeserializer deserializer, byte[] data) {}

    static List<Event> within(EventData data) {
        return data instanceof TransactionPayloadEventData payload ? payload.getUncompressedEvents() : List.of();
    }
}
