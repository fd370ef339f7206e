import com.github.shyiko.mysql.binlog.BinaryLogFileReader;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.TransactionPayloadEventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/**
 * Decodes one binary log with mysql-binlog-connector-java and prints what each pass cost, one JSON object a line.
 *
 * <p>Peer PASSES FILE. It does not verify checksums and leaves JSON documents as bytes.
 */
final class Peer {
  private static long images(EventData data) {
    if (data instanceof WriteRowsEventData rows) return rows.getRows().size();
    if (data instanceof DeleteRowsEventData rows) return rows.getRows().size();
    if (data instanceof UpdateRowsEventData rows) return 2L * rows.getRows().size();
    if (data instanceof TransactionPayloadEventData payload) {
      long count = 0;
      for (Event inner : payload.getUncompressedEvents()) count += images(inner.getData());
      return count;
    }
    return 0;
  }

  private static long decode(String path) throws IOException {
    long count = 0;
    try (BinaryLogFileReader reader = new BinaryLogFileReader(new File(path))) {
      for (Event event = reader.readEvent(); event != null; event = reader.readEvent()) count += images(event.getData());
    }
    return count;
  }

  public static void main(String[] arguments) throws IOException {
    OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    for (int pass = Integer.parseInt(arguments[0]); pass > 0; pass--) {
      long wall = System.nanoTime();
      long cpu = system.getProcessCpuTime();
      long rows = decode(arguments[1]);
      System.out.printf(
          "{\"rows\": %d, \"wall\": %.6f, \"cpu\": %.6f}%n",
          rows, (System.nanoTime() - wall) / 1e9, (system.getProcessCpuTime() - cpu) / 1e9);
    }
  }
}
