package io.camunda.zeebe.process.test.engine;

import io.camunda.zeebe.gateway.protocol.GatewayOuterClass.CompleteJobRequest;
import io.camunda.zeebe.gateway.protocol.GatewayOuterClass.CompleteJobResponse;
import io.camunda.zeebe.protocol.impl.encoding.MsgPackConverter;
import io.camunda.zeebe.protocol.impl.record.RecordMetadata;
import io.camunda.zeebe.protocol.impl.record.value.usertask.UserTaskRecord;
import io.camunda.zeebe.protocol.record.RecordType;
import io.camunda.zeebe.protocol.record.ValueType;
import io.camunda.zeebe.protocol.record.intent.UserTaskIntent;
import io.camunda.zeebe.util.buffer.BufferUtil;
import io.grpc.stub.StreamObserver;
import java.lang.reflect.Field;
import java.util.concurrent.CompletableFuture;

/**
 * Completes Camunda user tasks. Camunda's test gateway has no call for that, because gRPC has none. So the command is written to the
 * engine's log as the gateway writes those that it has. The class is in the gateway's package because its parts are visible there
 * only.
 */
public final class UserTasks {
  private final CommandWriter writer;
  private final GatewayRequestStore requests;

  public UserTasks(Object gateway) throws ReflectiveOperationException {
    writer = (CommandWriter) part(gateway, "writer");
    requests = (GatewayRequestStore) part(gateway, "gatewayRequestStore");
  }

  private static Object part(Object gateway, String name) throws ReflectiveOperationException {
    Field field = gateway.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(gateway);
  }

  /** Completes a task. The future ends with the engine's answer; a rejection is a gRPC status. */
  public CompletableFuture<Void> complete(long key, String variables) {
    UserTaskRecord command =
        new UserTaskRecord()
            .setUserTaskKey(key)
            .setAction("complete")
            .setVariables(BufferUtil.wrapArray(MsgPackConverter.convertToMsgPack(variables)));
    CompletableFuture<Void> answer = new CompletableFuture<>();
    // The gateway maps an answer by the class of its request. That to a completed job has no content either.
    long request = requests.registerNewRequest(CompleteJobRequest.class, observer(answer));
    RecordMetadata metadata =
        new RecordMetadata()
            .recordType(RecordType.COMMAND)
            .requestStreamId(1)
            .requestId(request)
            .valueType(ValueType.USER_TASK)
            .intent(UserTaskIntent.COMPLETE);
    writer.writeCommandWithKey(key, command, metadata);
    return answer;
  }

  private static StreamObserver<CompleteJobResponse> observer(CompletableFuture<Void> answer) {
    return new StreamObserver<>() {
      @Override
      public void onNext(CompleteJobResponse response) {}

      @Override
      public void onError(Throwable rejection) {
        answer.completeExceptionally(rejection);
      }

      @Override
      public void onCompleted() {
        answer.complete(null);
      }
    };
  }
}
