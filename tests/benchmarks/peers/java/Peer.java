import com.github.shyiko.mysql.binlog.BinaryLogFileReader;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.TransactionPayloadEventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;

/**
 * Decodes one binary log with mysql-binlog-connector-java for every line that it reads and prints what it cost, one
 * JSON object a line.
 *
 * <p>Peer FILE. It does not verify checksums and leaves JSON documents as bytes.
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
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    while (lines.readLine() != null) {
      long wall = System.nanoTime();
      long cpu = system.getProcessCpuTime();
      long rows = decode(arguments[0]);
      System.out.printf(
          "{\"rows\": %d, \"wall\": %.6f, \"cpu\": %.6f}%n",
          rows, (System.nanoTime() - wall) / 1e9, (system.getProcessCpuTime() - cpu) / 1e9);
    }
  }
}
