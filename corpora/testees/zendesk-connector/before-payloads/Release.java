// For releases that do not know TRANSACTION_PAYLOAD.

import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import java.util.List;

final class Release {
    private Release() {}

    static List<Event> within(EventData data) {
        return List.of();
    }
}
