package hospital.example.engines;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.camunda.zeebe.scheduler.clock.ControlledActorClock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The part of a broker's monitoring port that tests use, on loopback: the clock and the metrics. */
final class Monitoring {
  private final ObjectMapper json = new ObjectMapper();
  private final ControlledActorClock clock;
  private final Records records;

  private Monitoring(ControlledActorClock clock, Records records) {
    this.clock = clock;
    this.records = records;
  }

  static void start(int port, ControlledActorClock clock, Records records) throws IOException {
    Monitoring monitoring = new Monitoring(clock, records);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", monitoring::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try {
      switch (exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath()) {
        case "GET /actuator/prometheus" -> send(exchange, 200, "text/plain; version=0.0.4", records.metrics());
        case "GET /actuator/clock" -> sendTime(exchange);
        case "DELETE /actuator/clock" -> {
          clock.reset();
          sendTime(exchange);
        }
        case "POST /actuator/clock/add" -> {
          clock.addTime(Duration.ofMillis(number(exchange, "offsetMilli")));
          sendTime(exchange);
        }
        case "POST /actuator/clock/pin" -> {
          clock.setCurrentTime(number(exchange, "epochMilli"));
          sendTime(exchange);
        }
        default -> send(exchange, 404, "text/plain", "not found");
      }
    } catch (IllegalArgumentException e) {
      send(exchange, 400, "text/plain", e.getMessage());
    } finally {
      exchange.close();
    }
  }

  /** Returns the number that the request's JSON object has by this name. */
  private long number(HttpExchange exchange, String name) throws IOException {
    JsonNode value = json.readTree(exchange.getRequestBody()).path(name);
    if (!value.isIntegralNumber()) {
      throw new IllegalArgumentException(name + " must be a whole number");
    }
    return value.longValue();
  }

  private void sendTime(HttpExchange exchange) throws IOException {
    clock.update(); // else it shows when the engine last looked at it
    send(exchange, 200, "application/json", "{\"epochMilli\":" + clock.getCurrentTime().toEpochMilli() + "}");
  }

  private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }
}
