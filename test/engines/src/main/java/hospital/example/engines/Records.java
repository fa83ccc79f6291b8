package hospital.example.engines;

import io.camunda.zeebe.process.test.api.RecordStreamSource;
import io.camunda.zeebe.protocol.record.Record;
import io.camunda.zeebe.protocol.record.RecordType;
import io.camunda.zeebe.protocol.record.intent.IncidentIntent;
import io.camunda.zeebe.protocol.record.intent.Intent;
import io.camunda.zeebe.protocol.record.value.IncidentRecordValue;
import io.camunda.zeebe.protocol.record.value.JobBatchRecordValue;
import io.camunda.zeebe.protocol.record.value.JobRecordValue;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Follows the engine's records: writes them to a file, one JSON object a line, and counts what happened to jobs, and the incidents
 * that are open.
 */
final class Records {
  /** The pause between two looks at the engine's log, in milliseconds. */
  private static final long PAUSE = 5;

  private final RecordStreamSource source;
  private final Optional<Path> file;
  private final Map<Event, Long> jobs = new TreeMap<>();
  private long openIncidents;

  /** What happened to a job of a type, by the broker's words: "completed", "timed out", "error thrown". */
  private record Event(String action, String type) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return toString().compareTo(other.toString());
    }
  }

  Records(RecordStreamSource source, Optional<Path> file) {
    this.source = source;
    this.file = file;
  }

  /** Follows the records until the thread is interrupted. Nothing else may ask the source for records. */
  void follow() throws IOException, InterruptedException {
    try (Writer out = file.isPresent() ? Files.newBufferedWriter(file.get()) : Writer.nullWriter()) {
      for (int seen = 0; ; Thread.sleep(PAUSE)) {
        List<Record<?>> all = (List<Record<?>>) source.getRecords(); // a list, which grows with every call
        for (; seen < all.size(); seen++) {
          Record<?> record = all.get(seen);
          count(record);
          if (file.isPresent()) {
            write(record, out);
          }
        }
        out.flush();
      }
    }
  }

  /** Writes a record, unless JSON cannot hold it: a variable that is nested too deep. */
  private static void write(Record<?> record, Writer out) throws IOException {
    String line;
    try {
      line = record.toJson();
    } catch (RuntimeException e) {
      System.out.println("the record at position " + record.getPosition() + " is not written: " + e.getMessage());
      return;
    }
    out.append(line).append('\n');
  }

  private void count(Record<?> record) {
    if (record.getRecordType() != RecordType.EVENT) {
      return;
    }
    String action = record.getIntent().name().toLowerCase(Locale.ROOT).replace('_', ' ');
    switch (record.getValue()) {
      case JobRecordValue job -> add(action, job.getType(), 1);
      case JobBatchRecordValue batch -> add(action, batch.getType(), batch.getJobs().size());
      case IncidentRecordValue incident -> addIncidents(record.getIntent());
      default -> {}
    }
  }

  private synchronized void add(String action, String type, long n) {
    jobs.merge(new Event(action, type), n, Long::sum);
  }

  private synchronized void addIncidents(Intent what) {
    if (what == IncidentIntent.CREATED) {
      openIncidents++;
    } else if (what == IncidentIntent.RESOLVED) {
      openIncidents--;
    }
  }

  /** Returns what was counted, in Prometheus' text format and by the names of a broker's metrics. */
  synchronized String metrics() {
    String incidents = "# TYPE zeebe_pending_incidents_total gauge\nzeebe_pending_incidents_total{partition=\"1\"} " + openIncidents + "\n";
    return jobs.entrySet().stream()
        .map(e -> "zeebe_job_events_total{action=\"%s\",partition=\"1\",type=\"%s\"} %d\n"
            .formatted(e.getKey().action(), escaped(e.getKey().type()), e.getValue()))
        .collect(Collectors.joining("", incidents + "# TYPE zeebe_job_events_total counter\n", ""));
  }

  private static String escaped(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
