// The scenario, for any client that is wrapped in these functions: topology, deploy, deployNoModel,
// create, open (a worker), complete, throwError, publish, resolve, set, retry, extend, cancel and
// errorName.

/** Plays the scenario and writes what the client saw of each step as a line of JSON. */
export async function play(client) {
  const worked = queue();
  client.open(async (job) => {
    const receipt = await pack(job);
    worked.put(job);
    return receipt;
  });
  const step = async (name, call) => {
    const report = { step: name };
    try {
      report.result = await call();
    } catch (error) {
      report.error = client.errorName(error);
    }
    console.log(JSON.stringify(report));
  };
  const none = (name, call) => step(name, async () => void (await call()));
  const create = async (name, process, variables) => {
    let key;
    await step(name, async () => {
      const created = await client.create(process, variables);
      key = created.processInstanceKey;
      return {
        process: created.processDefinitionId ?? created.bpmnProcessId,
        version: created.processDefinitionVersion ?? created.version,
      };
    });
    return key;
  };
  const work = async (name) => {
    const job = await worked.take();
    await step(name, () => ({
      type: job.type,
      process: job.processDefinitionId ?? job.bpmnProcessId,
      element: job.elementId,
      worker: job.worker,
      headers: job.customHeaders,
      retries: job.retries,
      variables: job.variables,
    }));
    return job.jobKey ?? job.key;
  };

  await step('topology', client.topology);
  await step('deploy', client.deploy);
  await step('deploy no model', client.deployNoModel);
  await create('create unknown', 'unknown', {});

  await create('create a', 'order', { order: 'a', text: '1 < 2 & ü' });
  const packed = await work('work a');
  await step('complete again', () => client.complete(packed));
  await none('update timeout', () => client.extend(packed));
  await none('publish', client.publish);
  await none('publish again', client.publish);

  await create('create b', 'order', { order: 'b' });
  const torn = await work('work b');
  await step('throw again', () => client.throwError(torn));

  const instance = await create('create c', 'order', { order: 'c' });
  const failed = await work('work c');
  const incident = await keyOf(`INCIDENT/CREATED/${instance}`);
  await step('complete failed', () => client.complete(failed));
  await none('resolve without retries', () => client.resolve(incident));
  await none('set variables', () => client.set(instance));
  await none('update retries', () => client.retry(failed));
  await none('resolve', () => client.resolve(incident));
  await work('work c again');
  await none('resolve again', () => client.resolve(incident));
  await none('cancel', () => client.cancel(instance));
  await none('cancel again', () => client.cancel(instance));
  await none('set variables of none', () => client.set(instance));
  process.exit(); // a client that is closed waits for its last poll
}

/** Answers a job: b is torn, c fails at its first try. */
function pack(job) {
  const { order } = job.variables;
  if (order === 'b') return job.error({ errorCode: 'TORN', errorMessage: 'torn', variables: {} });
  if (order === 'c' && job.retries === 1) return job.fail({ errorMessage: 'no box', retries: 0 });
  return job.complete({ weight: 3.5 });
}

/** Waits for a record of an instance and returns its key. */
async function keyOf(record) {
  return (await fetch(`${process.env.KEYS_ADDRESS}/${record}`)).text();
}

function queue() {
  const items = [];
  const takers = [];
  return {
    put: (item) => (takers.length > 0 ? takers.shift()(item) : items.push(item)),
    take: async () => items.shift() ?? new Promise((taker) => takers.push(taker)),
  };
}
