// Plays the scenario with @camunda8/orchestration-cluster-api, which is generated from the schemas of the
// REST API. A step fails where an answer lacks a property or has one too many.

import createCamundaClient from '@camunda8/orchestration-cluster-api';
import { play } from './scenario.mjs';

const client = createCamundaClient({
  config: {
    CAMUNDA_REST_ADDRESS: process.env.REST_ADDRESS,
    CAMUNDA_AUTH_STRATEGY: 'NONE',
    CAMUNDA_SDK_VALIDATION: 'req:strict,res:fanatical',
  },
});

await play({
  async topology() {
    const r = await client.getTopology();
    return { brokers: r.brokers.length, partitions: r.partitionsCount, version: r.gatewayVersion };
  },
  async deploy() {
    const { processes } = await client.deployResourcesFromFiles([process.env.MODEL]);
    const { processDefinitionId, processDefinitionVersion } = processes[0];
    return { process: processDefinitionId, version: processDefinitionVersion };
  },
  deployNoModel: () => client.createDeployment({ resources: [new File(['no model'], 'order.bpmn')] }),
  create: (id, variables) => client.createProcessInstance({ processDefinitionId: id, variables }),
  open: (jobHandler) =>
    client.createJobWorker({
      jobType: 'pack-order',
      workerName: 'packer',
      jobTimeoutMs: 60_000,
      maxParallelJobs: 5,
      jobHandler,
    }),
  complete: (jobKey) => client.completeJob({ jobKey }),
  throwError: (jobKey) => client.throwJobError({ jobKey, errorCode: 'TORN' }),
  publish: () =>
    client.publishMessage({
      name: 'paid',
      correlationKey: 'a',
      messageId: '1',
      timeToLive: 60_000,
      variables: { amount: 1200 },
    }),
  resolve: (incidentKey) => client.resolveIncident({ incidentKey }),
  set: (elementInstanceKey) =>
    client.createElementInstanceVariables({
      elementInstanceKey,
      variables: { box: { size: 12 } },
    }),
  retry: (jobKey) => client.updateJob({ jobKey, changeset: { retries: 2 } }),
  extend: (jobKey) => client.updateJob({ jobKey, changeset: { timeout: 60_000 } }),
  cancel: (processInstanceKey) => client.cancelProcessInstance({ processInstanceKey }),
  errorName: (error) => (error.title ? `${error.status} ${error.title}` : String(error)),
});
