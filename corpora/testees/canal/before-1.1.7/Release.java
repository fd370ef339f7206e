// For releases from 1.1.2 that do not know TRANSACTION_PAYLOAD and compressed rows.

import com.taobao.tddl.dbsync.binlog.LogContext;
import com.taobao.tddl.dbsync.binlog.LogDecoder;
import com.taobao.tddl.dbsync.binlog.LogEvent;
import com.taobao.tddl.dbsync.binlog.event.RowsLogBuffer;
import com.taobao.tddl.dbsync.binlog.event.RowsLogEvent;
import com.taobao.tddl.dbsync.binlog.event.TableMapLogEvent;
import java.io.Serializable;
import java.nio.charset.Charset;
import java.util.BitSet;
import java.util.List;

final class Release {
    private Release() {}

    static RowsLogBuffer rows(RowsLogEvent event, Charset charset) {
        return event.getRowsBuf(charset.name());
    }

    static Serializable value(RowsLogBuffer buffer, TableMapLogEvent.ColumnInfo[] columns, int column) {
        TableMapLogEvent.ColumnInfo info = columns[column];
        return buffer.nextValue(info.name, column, info.type, info.meta);
    }

    static boolean nextAfter(RowsLogBuffer buffer, BitSet columns) {
        return buffer.nextOneRow(columns, true);
    }

    static List<LogEvent> within(LogDecoder decoder, LogEvent event, LogContext context) {
        return List.of();
    }

    static boolean isInsert(RowsLogEvent event) {
        int type = event.getHeader().getType();
        return type == LogEvent.WRITE_ROWS_EVENT || type == LogEvent.WRITE_ROWS_EVENT_V1;
    }

    static boolean isDelete(RowsLogEvent event) {
        int type = event.getHeader().getType();
        return type == LogEvent.DELETE_ROWS_EVENT || type == LogEvent.DELETE_ROWS_EVENT_V1;
    }
}
