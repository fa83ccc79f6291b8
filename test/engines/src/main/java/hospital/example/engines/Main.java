package hospital.example.engines;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Runs Camunda's workflow engine, with a log that is in memory only and its gateway on loopback, and gives it what tests use of a
 * broker: a clock that can be moved, the counters of jobs, the completion of user tasks, and a file of all records. It runs until it
 * is killed.
 *
 * <p>Arguments, each NAME=VALUE: {@code gateway}, {@code monitoring}, {@code rest} and {@code command} are ports; the last one is not
 * opened, it is what the topology calls the broker's. {@code records} is the file of records, which is left out where none is wanted.
 */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    try {
      run(arguments);
    } catch (Throwable e) {
      // The engine's threads would keep a process alive that serves nothing.
      e.printStackTrace();
      System.exit(1);
    }
  }

  private static void run(String[] arguments) throws Exception {
    Map<String, String> given = new HashMap<>();
    for (String argument : arguments) {
      String[] pair = argument.split("=", 2);
      given.put(pair[0], pair[1]);
    }
    Engine engine = Engine.start(port(given, "gateway"), port(given, "command"));
    Records records = new Records(engine.records(), Optional.ofNullable(given.get("records")).map(Path::of));
    Rest.start(port(given, "rest"), engine.userTasks());
    Monitoring.start(port(given, "monitoring"), engine.clock(), records);
    System.out.println("the engine of Zeebe " + Engine.version() + " listens on port " + given.get("gateway"));
    records.follow();
  }

  private static int port(Map<String, String> given, String name) {
    return Integer.parseInt(given.get(name));
  }
}
