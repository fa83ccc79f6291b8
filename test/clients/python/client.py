"""Plays the scenario with pyzeebe."""

import asyncio
import json
import os
import urllib.request

import grpc
from pyzeebe import Job, ZeebeClient, ZeebeWorker, create_insecure_channel
from pyzeebe.errors import BusinessError, PyZeebeError
from pyzeebe.grpc_internals.zeebe_adapter import ZeebeAdapter
from pyzeebe.proto import gateway_pb2 as pb
from pyzeebe.proto.gateway_pb2_grpc import GatewayStub


async def step(name, call):
    """Writes what the client saw of a step as a line of JSON, and returns it."""
    report = {"step": name}
    try:
        report["result"] = await call
    except PyZeebeError as error:
        report["error"] = type(error).__name__
    except grpc.aio.AioRpcError as error:
        report["error"] = error.code().name
    print(json.dumps(report), flush=True)


async def none(call):
    await call


async def key_of(record):
    """Waits for a record of an instance and returns its key."""
    url = os.environ["KEYS_ADDRESS"] + "/" + record
    answer = await asyncio.to_thread(urllib.request.urlopen, url)
    return int(answer.read())


async def fail(error, job, controller):
    """Answers a job whose task has raised an error."""
    if isinstance(error, BusinessError):
        await controller.set_error_status("torn", error_code=error.error_code)
    else:
        await controller.set_failure_status(str(error))


async def main():
    channel = create_insecure_channel(os.environ["GRPC_ADDRESS"])
    client = ZeebeClient(channel)
    jobs = ZeebeAdapter(channel)  # answers jobs outside of a worker
    gateway = GatewayStub(channel)  # for the calls that pyzeebe has no method for
    worker = ZeebeWorker(channel, name="packer", exception_handler=fail)
    packed = asyncio.Queue()

    @worker.task(task_type="pack-order")
    async def pack(job: Job):
        await packed.put(job)
        if job.variables["order"] == "b":
            raise BusinessError("TORN")
        if job.variables["order"] == "c" and job.retries == 1:
            raise RuntimeError("no box")
        return {"weight": 3.5}

    async def topology():
        r = await client.topology()
        return {"brokers": len(r.brokers), "partitions": r.partitions_count, "version": r.gateway_version}

    async def deploy():
        r = await client.deploy_resource(os.environ["MODEL"])
        return {"process": r.deployments[0].bpmn_process_id, "version": r.deployments[0].version}

    async def create(name, process, variables):
        created = []

        async def call():
            r = await client.run_process(process, variables)
            created.append(r.process_instance_key)
            return {"process": r.bpmn_process_id, "version": r.version}

        await step(name, call())
        return created[0] if created else None

    async def work(name, answered):
        """Reports the next job, once its answer has arrived."""
        job = await packed.get()
        await key_of(f"JOB/{answered}/{job.process_instance_key}")

        async def call():
            return {
                "type": job.type, "process": job.bpmn_process_id, "element": job.element_id,
                "worker": job.worker, "headers": dict(job.custom_headers), "retries": job.retries,
                "variables": dict(job.variables),
            }

        await step(name, call())
        return job

    def publish():
        return none(client.publish_message("paid", "a", {"amount": 1200}, 60_000, "1"))

    working = asyncio.create_task(worker.work())
    await step("topology", topology())
    await step("deploy", deploy())
    await step("deploy no model", client.deploy_resource(__file__))
    await create("create unknown", "unknown", {})

    await create("create a", "order", {"order": "a", "text": "1 < 2 & ü"})
    job = await work("work a", "COMPLETED")
    await step("complete again", jobs.complete_job(job.key, {}))
    await step("update timeout", jobs.update_job_timeout(job.key, 60_000))
    await step("publish", publish())
    await step("publish again", publish())

    await create("create b", "order", {"order": "b"})
    job = await work("work b", "ERROR_THROWN")
    await step("throw again", jobs.throw_error(job.key, "torn", {}, "TORN"))

    instance = await create("create c", "order", {"order": "c"})
    job = await work("work c", "FAILED")
    incident = await key_of(f"INCIDENT/CREATED/{instance}")
    box = pb.SetVariablesRequest(elementInstanceKey=instance, variables=json.dumps({"box": {"size": 12}}))
    retries = pb.UpdateJobRetriesRequest(jobKey=job.key, retries=2)

    def resolve():
        return none(gateway.ResolveIncident(pb.ResolveIncidentRequest(incidentKey=incident)))

    await step("complete failed", jobs.complete_job(job.key, {}))
    await step("resolve without retries", resolve())
    await step("set variables", none(gateway.SetVariables(box)))
    await step("update retries", none(gateway.UpdateJobRetries(retries)))
    await step("resolve", resolve())
    await work("work c again", "COMPLETED")
    await step("resolve again", resolve())
    await step("cancel", none(client.cancel_process_instance(instance)))
    await step("cancel again", none(client.cancel_process_instance(instance)))
    await step("set variables of none", none(gateway.SetVariables(box)))
    working.cancel()


asyncio.run(main())
