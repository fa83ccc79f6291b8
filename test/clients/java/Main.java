import com.fasterxml.jackson.databind.ObjectMapper;
import io.camunda.client.CamundaClient;
import io.camunda.client.api.command.ClientException;
import io.camunda.client.api.command.ClientStatusException;
import io.camunda.client.api.command.ProblemException;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.worker.JobClient;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;

/** Plays the scenario with camunda-client-java, over gRPC, or over REST if its argument is "rest". */
public class Main {
  static final BlockingQueue<ActivatedJob> worked = new LinkedBlockingQueue<>();
  static CamundaClient client;

  public static void main(String[] args) throws Exception {
    client =
        CamundaClient.newClientBuilder()
            .grpcAddress(URI.create("http://" + System.getenv("GRPC_ADDRESS")))
            .restAddress(URI.create(System.getenv("REST_ADDRESS")))
            .preferRestOverGrpc(args[0].equals("rest"))
            .defaultRequestTimeout(Duration.ofMinutes(5)) // the default of 10 s is short on a busy machine
            .build();
    client.newWorker().jobType("pack-order").handler(Main::pack).name("packer").open();

    step("topology", () -> {
      var r = client.newTopologyRequest().send().join();
      return Map.of("brokers", r.getBrokers().size(), "partitions", r.getPartitionsCount(),
          "version", r.getGatewayVersion());
    });
    step("deploy", () -> {
      var r = client.newDeployResourceCommand().addResourceFile(System.getenv("MODEL")).send().join();
      var p = r.getProcesses().get(0);
      return Map.of("process", p.getBpmnProcessId(), "version", p.getVersion());
    });
    step("deploy no model", () ->
        client.newDeployResourceCommand().addResourceStringUtf8("no model", "order.bpmn").send().join());
    create("create unknown", "unknown", Map.of());

    var text = new LinkedHashMap<String, Object>();
    text.put("order", "a");
    text.put("text", "1 < 2 & ü");
    create("create a", "order", text);
    var packed = work("work a");
    step("complete again", () -> client.newCompleteCommand(packed).send().join());
    step("update timeout", () ->
        client.newUpdateTimeoutCommand(packed).timeout(Duration.ofMinutes(1)).send().join());
    for (var name : new String[] {"publish", "publish again"}) {
      step(name, () -> none(client.newPublishMessageCommand().messageName("paid").correlationKey("a")
          .messageId("1").timeToLive(Duration.ofMinutes(1)).variables(Map.of("amount", 1200)).send().join()));
    }

    create("create b", "order", Map.of("order", "b"));
    var torn = work("work b");
    step("throw again", () -> client.newThrowErrorCommand(torn).errorCode("TORN").send().join());

    var instance = create("create c", "order", Map.of("order", "c"));
    var failed = work("work c");
    var incident = keyOf("INCIDENT/CREATED/" + instance);
    Callable<Object> resolve = () -> none(client.newResolveIncidentCommand(incident).send().join());
    Callable<Object> set = () -> none(client.newSetVariablesCommand(instance)
        .variables(Map.of("box", Map.of("size", 12))).send().join());
    Callable<Object> cancel = () -> none(client.newCancelInstanceCommand(instance).send().join());
    step("complete failed", () -> client.newCompleteCommand(failed).send().join());
    step("resolve without retries", resolve);
    step("set variables", set);
    step("update retries", () -> none(client.newUpdateRetriesCommand(failed).retries(2).send().join()));
    step("resolve", resolve);
    work("work c again");
    step("resolve again", resolve);
    step("cancel", cancel);
    step("cancel again", cancel);
    step("set variables of none", set);
    System.exit(0); // a client that is closed waits for its last poll
  }

  /** Answers a job: b is torn, c fails at its first try. */
  static void pack(JobClient client, ActivatedJob job) {
    if (job.getVariable("order").equals("b")) {
      client.newThrowErrorCommand(job).errorCode("TORN").send().join();
    } else if (job.getVariable("order").equals("c") && job.getRetries() == 1) {
      client.newFailCommand(job).retries(0).errorMessage("no box").send().join();
    } else {
      client.newCompleteCommand(job).variables(Map.of("weight", 3.5)).send().join();
    }
    worked.add(job);
  }

  static ActivatedJob work(String name) throws Exception {
    var job = worked.take();
    step(name, () -> Map.of("type", job.getType(), "process", job.getBpmnProcessId(),
        "element", job.getElementId(), "worker", job.getWorker(), "headers", job.getCustomHeaders(),
        "retries", job.getRetries(), "variables", job.getVariablesAsMap()));
    return job;
  }

  static long create(String name, String process, Map<String, Object> variables) throws Exception {
    var key = new long[1];
    step(name, () -> {
      var r = client.newCreateInstanceCommand().bpmnProcessId(process).latestVersion().variables(variables)
          .send().join();
      key[0] = r.getProcessInstanceKey();
      return Map.of("process", r.getBpmnProcessId(), "version", r.getVersion());
    });
    return key[0];
  }

  /** Writes what the client saw of a step as a line of JSON. */
  static void step(String name, Callable<Object> call) throws Exception {
    var report = new LinkedHashMap<String, Object>();
    report.put("step", name);
    try {
      report.put("result", call.call());
    } catch (ProblemException e) {
      report.put("error", e.code() + " " + e.details().getTitle());
    } catch (ClientStatusException e) {
      report.put("error", e.getStatusCode().name());
    } catch (ClientException e) {
      report.put("error", e.toString());
    }
    System.out.println(new ObjectMapper().writeValueAsString(report));
  }

  static Object none(Object answer) {
    return null;
  }

  static long keyOf(String record) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("KEYS_ADDRESS") + "/" + record)).build();
    return Long.parseLong(HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body());
  }
}
