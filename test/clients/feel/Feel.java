import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.Period;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.camunda.feel.FeelEngineClock;
import org.camunda.feel.api.EvaluationResult;
import org.camunda.feel.api.FeelEngineApi;
import org.camunda.feel.api.FeelEngineBuilder;
import org.camunda.feel.api.ParseResult;
import org.camunda.feel.syntaxtree.ValDateTime;
import org.camunda.feel.syntaxtree.ValDayTimeDuration;
import org.camunda.feel.syntaxtree.ValYearMonthDuration;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Evaluates expressions with Camunda's FEEL engine. It reads lines {"expression", "variables", "now"} and writes a line
 * {"value"} or {"error"} for each.
 */
public final class Feel {
  private static ZonedDateTime now;

  public static void main(String[] args) throws Exception {
    ObjectMapper json = new ObjectMapper();
    FeelEngineApi engine = FeelEngineBuilder.create().withClock((FeelEngineClock) () -> now).build();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonNode question = json.readTree(line);
      now = Instant.parse(question.path("now").asText("2026-11-24T12:00:00Z")).atZone(ZoneOffset.UTC);
      Map<String, Object> variables = new HashMap<>();
      if (question.has("variables")) {
        json.readerForUpdating(variables).readValue(question.get("variables"));
      }
      out.println(json.writeValueAsString(evaluate(engine, question.get("expression").asText(), variables)));
    }
    out.flush();
  }

  private static Map<String, Object> evaluate(FeelEngineApi engine, String text, Map<String, Object> variables) {
    try {
      ParseResult parsed = engine.parseExpression(text);
      if (parsed.isFailure()) {
        return Map.of("error", parsed.failure().message());
      }
      EvaluationResult evaluated = engine.evaluate(parsed.parsedExpression(), variables);
      if (evaluated.isFailure()) {
        return Map.of("error", evaluated.failure().message());
      }
      return Collections.singletonMap("value", plain(evaluated.result()));
    } catch (RuntimeException e) { // as in the evaluation of substring("a", 5)
      return Map.of("error", e.toString());
    }
  }

  /** Turns a value of the engine into one that can be written as JSON. */
  private static Object plain(Object value) {
    if (value instanceof scala.math.BigDecimal number) {
      return number.bigDecimal();
    }
    if (value instanceof scala.collection.Map<?, ?> map) {
      Map<String, Object> all = new HashMap<>();
      CollectionConverters.asJava(map).forEach((key, item) -> all.put(key.toString(), plain(item)));
      return all;
    }
    if (value instanceof scala.collection.Iterable<?> items) {
      List<Object> all = new ArrayList<>();
      CollectionConverters.asJava(items).forEach(item -> all.add(plain(item)));
      return all;
    }
    if (value instanceof Duration duration) {
      return new ValDayTimeDuration(duration).toString();
    }
    if (value instanceof Period period) {
      return new ValYearMonthDuration(period).toString();
    }
    if (value instanceof ZonedDateTime time) {
      return new ValDateTime(time).toString();
    }
    if (value == null || value instanceof Boolean || value instanceof String) {
      return value;
    }
    return value.getClass().getName() + " " + value;
  }
}
