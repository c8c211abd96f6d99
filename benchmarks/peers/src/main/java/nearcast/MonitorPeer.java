package nearcast;

import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.DoublePoint;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.MatchingQueries;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorConfiguration;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.MultipassTermFilteredPresearcher;
import org.apache.lucene.monitor.Presearcher;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.monitor.TermWeightor;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.util.Version;

/**
 * Lucene Monitor on the same subscriptions and messages.
 *
 * <p>A presearcher chooses terms of a query without which it cannot match. A range of numbers has no
 * terms, so a subscription also says which cells of a grid its box touches, a message in which cells it
 * lies, and the presearcher can choose a keyword or the cells.
 *
 * <p>Arguments: subscriptions, messages, frequencies of words, passes of the presearcher, repetitions,
 * processor seconds to warm up, folder for the answers. Everything is written there: {@code pairs} (message and id as longs, of the
 * first repetition), {@code times} (nanoseconds as longs, repetition by repetition).
 */
public final class MonitorPeer {
  private static final int COARSEST = 2;
  private static final int FINEST = 12;
  private static final int MOST_CELLS = 4;
  private static final int BATCH = 10_000;

  public static void main(String[] arguments) throws IOException {
    Path subscriptions = Path.of(arguments[0]);
    List<Document> messages = readMessages(Path.of(arguments[1]));
    Presearcher presearcher = presearcher(Path.of(arguments[2]), Integer.parseInt(arguments[3]));
    int repetitions = Integer.parseInt(arguments[4]);
    long warmUpSeconds = Long.parseLong(arguments[5]);
    Path folder = Path.of(arguments[6]);

    MonitorConfiguration settings = new MonitorConfiguration().setQueryUpdateBufferSize(BATCH);
    try (Monitor monitor = new Monitor(new KeywordAnalyzer(), presearcher, settings)) {
      long start = System.nanoTime();
      register(monitor, subscriptions);
      long built = System.nanoTime();
      System.gc();
      Runtime machine = Runtime.getRuntime();
      long used = machine.totalMemory() - machine.freeMemory();

      long run = answer(monitor, messages, folder.resolve("pairs"));
      ThreadMXBean clock = ManagementFactory.getThreadMXBean();
      List<Double> cpu = new ArrayList<>();
      try (DataOutputStream times = output(folder.resolve("times"))) {
        long warm = clock.getCurrentThreadCpuTime() + warmUpSeconds * 1_000_000_000L;
        while (clock.getCurrentThreadCpuTime() < warm) {
          match(monitor, messages, null);
        }
        for (int repetition = 0; repetition < repetitions; repetition++) {
          long before = clock.getCurrentThreadCpuTime();
          match(monitor, messages, times);
          cpu.add((clock.getCurrentThreadCpuTime() - before) / 1e9);
        }
      }
      System.out.printf(
          "{\"lucene\": \"%s\", \"java\": \"%s\", \"build_s\": %.3f, \"heap_bytes\": %d, \"cpu_s\": %s, \"run\": %.2f}%n",
          Version.LATEST, Runtime.version(), (built - start) / 1e9, used, cpu, (double) run / messages.size());
    }
  }

  private static void match(Monitor monitor, List<Document> messages, DataOutputStream times)
      throws IOException {
    for (Document message : messages) {
      long start = System.nanoTime();
      monitor.match(message, QueryMatch.SIMPLE_MATCHER);
      long taken = System.nanoTime() - start;
      if (times != null) {
        times.writeLong(taken);
      }
    }
  }

  /** Write the pairs; return how many queries the presearcher let through. */
  private static long answer(Monitor monitor, List<Document> messages, Path file) throws IOException {
    long run = 0;
    try (DataOutputStream pairs = output(file)) {
      for (int row = 0; row < messages.size(); row++) {
        MatchingQueries<QueryMatch> answer = monitor.match(messages.get(row), QueryMatch.SIMPLE_MATCHER);
        run += answer.getQueriesRun();
        for (QueryMatch found : answer.getMatches()) {
          pairs.writeLong(row);
          pairs.writeLong(Long.parseLong(found.getQueryId()));
        }
      }
    }
    return run;
  }

  private static Presearcher presearcher(Path frequencies, int passes) throws IOException {
    Map<String, Integer> counts = new HashMap<>();
    try (BufferedReader lines = Files.newBufferedReader(frequencies)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] parts = line.split("\t");
        counts.put(parts[0], Integer.parseInt(parts[1]));
      }
    }
    TermWeightor weightor = TermWeightor.termFreqWeightor(counts, 100, 0.8);
    return passes == 1
        ? new TermFilteredPresearcher(weightor, List.of(), java.util.Set.of())
        : new MultipassTermFilteredPresearcher(passes, 0.0f, weightor, List.of(), java.util.Set.of());
  }

  private static void register(Monitor monitor, Path file) throws IOException {
    List<MonitorQuery> batch = new ArrayList<>();
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] parts = line.split("\t");
        double[] box = numbers(parts[2]);
        batch.add(new MonitorQuery(parts[0], query(parts[1].split(" "), box)));
        if (batch.size() == BATCH) {
          monitor.register(batch);
          batch.clear();
        }
      }
    }
    monitor.register(batch);
  }

  private static Query query(String[] keywords, double[] box) {
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    for (String keyword : keywords) {
      all.add(new TermQuery(new Term("word", keyword)), Occur.FILTER);
    }
    BooleanQuery.Builder cells = new BooleanQuery.Builder();
    for (String cell : cover(box)) {
      cells.add(new TermQuery(new Term("cell", cell)), Occur.SHOULD);
    }
    all.add(cells.build(), Occur.FILTER);
    double[] low = {box[0], box[1]};
    double[] high = {box[2], box[3]};
    all.add(DoublePoint.newRangeQuery("at", low, high), Occur.FILTER);
    return all.build();
  }

  /** The cells of the finest level at which a box touches no more than a few. */
  private static List<String> cover(double[] box) {
    int level = FINEST;
    while (level > COARSEST && count(box, level) > MOST_CELLS) {
      level--;
    }
    List<String> cells = new ArrayList<>();
    for (long x = column(box[0], level); x <= column(box[2], level); x++) {
      for (long y = row(box[1], level); y <= row(box[3], level); y++) {
        cells.add(cell(level, x, y));
      }
    }
    return cells;
  }

  private static long count(double[] box, int level) {
    return (column(box[2], level) - column(box[0], level) + 1) * (row(box[3], level) - row(box[1], level) + 1);
  }

  private static long column(double longitude, int level) {
    return (long) Math.floor((longitude + 180) / 360 * (1 << level));
  }

  private static long row(double latitude, int level) {
    return (long) Math.floor((latitude + 90) / 180 * (1 << level));
  }

  private static String cell(int level, long x, long y) {
    return level + "/" + x + "/" + y;
  }

  private static List<Document> readMessages(Path file) throws IOException {
    List<Document> messages = new ArrayList<>();
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] parts = line.split("\t", -1);
        double[] at = numbers(parts[1]);
        Document message = new Document();
        for (String word : parts[0].split(" ")) {
          message.add(new StringField("word", word, Field.Store.NO));
        }
        for (int level = COARSEST; level <= FINEST; level++) {
          message.add(new StringField("cell", cell(level, column(at[0], level), row(at[1], level)), Field.Store.NO));
        }
        message.add(new DoublePoint("at", at[0], at[1]));
        messages.add(message);
      }
    }
    return messages;
  }

  private static double[] numbers(String text) {
    String[] parts = text.split(" ");
    double[] numbers = new double[parts.length];
    for (int i = 0; i < parts.length; i++) {
      numbers[i] = Double.parseDouble(parts[i]);
    }
    return numbers;
  }

  private static DataOutputStream output(Path file) throws IOException {
    return new DataOutputStream(new java.io.BufferedOutputStream(Files.newOutputStream(file), 1 << 16));
  }
}
