// What differs between releases: the events inside a payload.

import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.TransactionPayloadEventData;
import java.util.List;

final class Release {
    private Release() {}

    static List<Event> within(EventData data) {
        return data instanceof TransactionPayloadEventData payload ? payload.getUncompressedEvents() : List.of();
    }
}
