package hospital.example.engines;

import io.camunda.zeebe.gateway.protocol.GatewayGrpc;
import io.camunda.zeebe.gateway.protocol.GatewayOuterClass.BrokerInfo;
import io.camunda.zeebe.gateway.protocol.GatewayOuterClass.Partition;
import io.camunda.zeebe.gateway.protocol.GatewayOuterClass.Partition.PartitionBrokerHealth;
import io.camunda.zeebe.gateway.protocol.GatewayOuterClass.Partition.PartitionBrokerRole;
import io.camunda.zeebe.gateway.protocol.GatewayOuterClass.TopologyRequest;
import io.camunda.zeebe.gateway.protocol.GatewayOuterClass.TopologyResponse;
import io.camunda.zeebe.process.test.api.RecordStreamSource;
import io.camunda.zeebe.process.test.api.ZeebeTestEngine;
import io.camunda.zeebe.process.test.engine.EngineFactory;
import io.camunda.zeebe.process.test.engine.InMemoryEngine;
import io.camunda.zeebe.process.test.engine.UserTasks;
import io.camunda.zeebe.scheduler.clock.ControlledActorClock;
import io.camunda.zeebe.util.VersionUtil;
import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;

/**
 * Camunda's in-memory engine with two differences: its gateway listens on loopback only, and its topology says that the partition is
 * healthy and which port the broker has.
 *
 * <p>The factory of Camunda's engine makes its server for every address of the machine, and offers no other. So its engine is never
 * started: the parts are taken from it and put into another one, with a server of ours.
 */
record Engine(ControlledActorClock clock, RecordStreamSource records, UserTasks userTasks) {
  private static final String LOOPBACK = "127.0.0.1";

  static Engine start(int gatewayPort, int commandPort) throws ReflectiveOperationException {
    ZeebeTestEngine made = EngineFactory.create(gatewayPort);
    BindableService gateway = (BindableService) part(made, "gateway").get(made);
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(LOOPBACK, gatewayPort))
            .addService(withTopology(gateway, commandPort))
            .build();
    rebuilt(made, server).start();
    return new Engine((ControlledActorClock) part(made, "clock").get(made), made.getRecordStreamSource(), new UserTasks(gateway));
  }

  static String version() {
    return VersionUtil.getVersion();
  }

  /** Returns an engine of the same parts as one that was never started, except for its server. */
  private static ZeebeTestEngine rebuilt(ZeebeTestEngine made, Server server) throws ReflectiveOperationException {
    Constructor<?> constructor = InMemoryEngine.class.getConstructors()[0];
    Class<?>[] types = constructor.getParameterTypes();
    Object[] parts = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      parts[i] = types[i] == Server.class ? server : part(made, types[i]).get(made);
    }
    return (ZeebeTestEngine) constructor.newInstance(parts);
  }

  private static Field part(ZeebeTestEngine made, String name) throws NoSuchFieldException {
    Field field = made.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  private static Field part(ZeebeTestEngine made, Class<?> type) throws NoSuchFieldException {
    for (Field field : made.getClass().getDeclaredFields()) {
      if (field.getType() == type) {
        return part(made, field.getName());
      }
    }
    throw new NoSuchFieldException("the engine has no part of the type " + type);
  }

  /** Returns the gateway's calls with the topology's in place of its own, which has neither a health nor the broker's port. */
  private static ServerServiceDefinition withTopology(BindableService gateway, int commandPort) {
    ServerServiceDefinition calls = gateway.bindService();
    ServerServiceDefinition.Builder answered = ServerServiceDefinition.builder(calls.getServiceDescriptor());
    for (ServerMethodDefinition<?, ?> call : calls.getMethods()) {
      if (!call.getMethodDescriptor().equals(GatewayGrpc.getTopologyMethod())) {
        answered.addMethod(call);
      }
    }
    return answered
        .addMethod(
            GatewayGrpc.getTopologyMethod(),
            ServerCalls.asyncUnaryCall(
                (TopologyRequest request, StreamObserver<TopologyResponse> response) -> {
                  response.onNext(topology(commandPort));
                  response.onCompleted();
                }))
        .build();
  }

  private static TopologyResponse topology(int commandPort) {
    Partition partition =
        Partition.newBuilder()
            .setPartitionId(1)
            .setRole(PartitionBrokerRole.LEADER)
            .setHealth(PartitionBrokerHealth.HEALTHY)
            .build();
    BrokerInfo broker =
        BrokerInfo.newBuilder().setHost(LOOPBACK).setPort(commandPort).setVersion(version()).addPartitions(partition).build();
    return TopologyResponse.newBuilder()
        .addBrokers(broker)
        .setClusterSize(1)
        .setPartitionsCount(1)
        .setReplicationFactor(1)
        .setGatewayVersion(version())
        .build();
  }
}
