// Plays the scenario with @camunda8/sdk: with its gRPC client, or with its REST client if the argument is
// "rest".

import { status } from '@grpc/grpc-js';
import { Camunda8 } from '@camunda8/sdk';
import { play } from './scenario.mjs';

const camunda = new Camunda8({
  ZEEBE_GRPC_ADDRESS: `grpc://${process.env.GRPC_ADDRESS}`,
  ZEEBE_REST_ADDRESS: process.env.REST_ADDRESS,
  CAMUNDA_AUTH_STRATEGY: 'NONE',
  CAMUNDA_LOG_LEVEL: 'none',
  zeebeGrpcSettings: { ZEEBE_CLIENT_LOG_LEVEL: 'NONE' },
});
const message = {
  name: 'paid',
  correlationKey: 'a',
  messageId: '1',
  timeToLive: 60_000,
  variables: { amount: 1200 },
};
const box = { box: { size: 12 } };

function grpc() {
  const client = camunda.getZeebeGrpcApiClient();
  return {
    async topology() {
      const r = await client.topology();
      return { brokers: r.brokers.length, partitions: r.partitionsCount, version: r.gatewayVersion };
    },
    async deploy() {
      const { deployments } = await client.deployResource({ processFilename: process.env.MODEL });
      const { bpmnProcessId, version } = deployments[0].process;
      return { process: bpmnProcessId, version };
    },
    deployNoModel: () => client.deployResource({ name: 'order.bpmn', process: Buffer.from('no model') }),
    create: (bpmnProcessId, variables) => client.createProcessInstance({ bpmnProcessId, variables }),
    open: (taskHandler) => client.createWorker({ taskType: 'pack-order', id: 'packer', taskHandler }),
    complete: (jobKey) => client.completeJob({ jobKey, variables: {} }),
    throwError: (jobKey) => client.throwError({ jobKey, errorCode: 'TORN', errorMessage: 'torn' }),
    publish: () => client.publishMessage(message),
    resolve: (incidentKey) => client.resolveIncident({ incidentKey }),
    set: (elementInstanceKey) => client.setVariables({ elementInstanceKey, variables: box, local: false }),
    retry: (jobKey) => client.updateJobRetries({ jobKey, retries: 2 }),
    extend: (jobKey) => client.updateJobTimeout({ jobKey, timeout: 60_000 }),
    cancel: (key) => client.cancelProcessInstance(key),
    errorName: (error) => status[error.code] ?? String(error),
  };
}

function rest() {
  const client = camunda.getCamundaRestClient();
  return {
    async topology() {
      const r = await client.getTopology();
      return { brokers: r.brokers.length, partitions: r.partitionsCount, version: r.gatewayVersion };
    },
    async deploy() {
      const [p] = (await client.deployResourcesFromFiles([process.env.MODEL])).processes;
      return { process: p.processDefinitionId, version: p.processDefinitionVersion };
    },
    deployNoModel: () => client.deployResources([{ name: 'order.bpmn', content: 'no model' }]),
    create: (id, variables) => client.createProcessInstance({ processDefinitionId: id, variables }),
    open: (jobHandler) =>
      client.createJobWorker({
        type: 'pack-order',
        worker: 'packer',
        timeout: 60_000,
        maxJobsToActivate: 5,
        jobHandler,
      }),
    complete: (jobKey) => client.completeJob({ jobKey, variables: {} }),
    throwError: (jobKey) => client.errorJob({ jobKey, errorCode: 'TORN', variables: {} }),
    publish: () => client.publishMessage(message),
    resolve: (incidentKey) => client.resolveIncident(incidentKey),
    set: (key) => client.updateElementInstanceVariables({ elementInstanceKey: key, variables: box }),
    retry: (jobKey) => client.updateJob({ jobKey, retries: 2 }),
    extend: (jobKey) => client.updateJob({ jobKey, timeout: 60_000 }),
    cancel: (processInstanceKey) => client.cancelProcessInstance({ processInstanceKey }),
    errorName: (error) => (error.title ? `${error.status} ${error.title}` : String(error)),
  };
}

await play(process.argv[2] === 'rest' ? rest() : grpc());
