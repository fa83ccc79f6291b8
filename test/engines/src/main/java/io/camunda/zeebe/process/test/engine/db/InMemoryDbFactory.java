package io.camunda.zeebe.process.test.engine.db;

import io.camunda.zeebe.db.AccessMetricsConfiguration;
import io.camunda.zeebe.db.ConsistencyChecksSettings;
import io.camunda.zeebe.db.ZeebeDb;
import io.camunda.zeebe.db.impl.rocksdb.RocksDbConfiguration;
import io.camunda.zeebe.db.impl.rocksdb.ZeebeRocksDbFactory;
import io.camunda.zeebe.protocol.ZbColumnFamilies;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;

/**
 * Gives the engine the store that a broker has, RocksDB. It stands in for the class of this name in Camunda's test gateway, whose
 * store of maps lacks what the engine of 8.9 asks of one; it takes its place by being earlier on the class path.
 */
public final class InMemoryDbFactory {
  private static final long MEMORY_LIMIT = 64L << 20; // bytes

  public ZeebeDb<ZbColumnFamilies> createDb() {
    try {
      return new ZeebeRocksDbFactory<ZbColumnFamilies>(
              new RocksDbConfiguration().setMemoryLimit(MEMORY_LIMIT),
              new ConsistencyChecksSettings(true, true),
              new AccessMetricsConfiguration(AccessMetricsConfiguration.Kind.NONE, 1),
              SimpleMeterRegistry::new)
          .createDb(Files.createTempDirectory("state").toFile());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
