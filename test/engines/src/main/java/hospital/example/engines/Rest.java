package hospital.example.engines;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.camunda.zeebe.process.test.engine.UserTasks;
import io.grpc.Status;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The one call of a gateway's REST API that gRPC does not have, on loopback: a person completes a Camunda user task. */
final class Rest {
  private static final Pattern COMPLETION = Pattern.compile("POST /v2/user-tasks/([0-9]{1,18})/completion");

  /** How long the engine may take, in seconds. */
  private static final long PATIENCE = 10;

  private final ObjectMapper json = new ObjectMapper();
  private final UserTasks tasks;

  private Rest(UserTasks tasks) {
    this.tasks = tasks;
  }

  static void start(int port, UserTasks tasks) throws IOException {
    Rest rest = new Rest(tasks);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", rest::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try {
      Matcher call = COMPLETION.matcher(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath());
      if (!call.matches()) {
        refuse(exchange, 404, "this engine serves no such call");
        return;
      }
      JsonNode variables = json.readTree(exchange.getRequestBody()).path("variables");
      if (!variables.isObject()) {
        refuse(exchange, 400, "variables must be an object");
        return;
      }
      tasks.complete(Long.parseLong(call.group(1)), variables.toString()).get(PATIENCE, TimeUnit.SECONDS);
      exchange.sendResponseHeaders(204, -1);
    } catch (ExecutionException e) {
      refuse(exchange, statusOf(e.getCause()), e.getCause().getMessage());
    } catch (TimeoutException e) {
      refuse(exchange, 504, "the engine did not answer within " + PATIENCE + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      exchange.close();
    }
  }

  private static int statusOf(Throwable rejection) {
    return switch (Status.fromThrowable(rejection).getCode()) {
      case INVALID_ARGUMENT -> 400;
      case NOT_FOUND -> 404;
      case FAILED_PRECONDITION -> 409;
      default -> 500;
    };
  }

  private static void refuse(HttpExchange exchange, int status, String detail) throws IOException {
    byte[] body = detail.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }
}
