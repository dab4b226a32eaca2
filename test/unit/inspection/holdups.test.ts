/** Pods that do not start, in `rekindle status`: their conditions and Events, and the advice. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../shared/core/http.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { application, driverPod, installed, make, onTerminal, type Ran } from "../cli/terminal.ts";

const submitted = { applicationState: { state: "SUBMITTED" }, lastSubmissionAttemptTime: "2026-11-02T08:00:00Z" };

const driver = (spec: object, status: object): Obj => driverPod({ spec, status: { phase: "Pending", ...status } });

const job: Obj = {
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name: "train", namespace: "default" },
  spec: {
    tasks: [{ name: "worker", replicas: 1, template: { spec: { containers: [{ name: "main", image: "a" }] } } }],
  },
  status: { state: { phase: "Pending" } },
};

const worker: Obj = {
  ...driver({ schedulerName: "volcano" }, {}),
  metadata: {
    name: "train-worker-0",
    namespace: "default",
    labels: { "volcano.sh/job-name": "train" },
    ownerReferences: [{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "train", uid: "" }],
  },
};

const creating = {
  containerStatuses: [{ name: "spark-kubernetes-driver", state: { waiting: { reason: "ContainerCreating" } } }],
};

/** A script by which no pod starts. */
const never = { "*": [{ startMs: 86_400_000 }] };

const pods = "/api/v1/namespaces/default/pods";

const mountFails = async ({ transport }: Simulator): Promise<void> => {
  const { metadata } = JSON.parse(JSON.stringify(await request(transport, "GET", `${pods}/app-driver`)));
  const { name, namespace, uid } = metadata;
  await request(transport, "POST", "/api/v1/namespaces/default/events", {
    ...{ apiVersion: "v1", kind: "Event", metadata: { name: "app-driver.1", namespace }, type: "Warning" },
    involvedObject: { kind: "Pod", name, namespace, uid },
    ...{ reason: "FailedMount", lastTimestamp: "2026-11-02T08:00:05Z" },
    message: 'MountVolume.SetUp failed for volume "config" : configmap "app-config" not found',
  });
};

/** Returns the transport with 403 for Events. */
const blind = (transport: Transport): Transport => ({
  ...transport,
  send: (call) =>
    call.path.includes("/events")
      ? Promise.resolve({
          status: 403,
          headers: {},
          body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code: 403, reason: "Forbidden" }),
        })
      : transport.send(call),
});

type Setting = { readonly objects: readonly Obj[]; readonly afterMs: number; readonly hidden?: boolean };

const statusOf = async (of: string, { objects, afterMs, hidden = false }: Setting): Promise<Ran> => {
  const simulator = openSimulator({
    crds: installed([""]),
    schedulers: [],
    nodes: [{ name: "node-1" }],
    scripts: never,
  });
  await make(simulator, ...objects);
  if (objects.some(({ metadata }) => metadata.name === "app-driver")) await mountFails(simulator);
  simulator.clock.advanceTo(simulator.clock.now() + afterMs);
  const transport = hidden ? blind(simulator.transport) : simulator.transport;
  return await onTerminal(simulator, { transport }).run("status", of);
};

const app = application("app", submitted);
const mounting = [app, driver({ nodeName: "node-1" }, creating)];

describe("rekindle status of an object whose pods do not start", () => {
  const cases: readonly (readonly [string, string, Setting, RegExp, RegExp])[] = [
    [
      "a ConfigMap that cannot be mounted is named, with what to create",
      "app",
      { objects: mounting, afterMs: 840_000 },
      /^state {6}SUBMITTED\nwaits for {2}pod app-driver: FailedMount: MountVolume\.SetUp failed .* configmap "app-config" not found$/m,
      /^do {9}create configmap app-config in namespace default, .*kubectl describe pod -n default app-driver$/m,
    ],
    [
      "a pod that has only begun to start is waited for",
      "app",
      { objects: mounting, afterMs: 10_000 },
      /^state {6}SUBMITTED\nwaits for {2}the driver to start$/m,
      /^do /m,
    ],
    [
      "who may not read events is told what the status shows",
      "app",
      { objects: mounting, afterMs: 840_000, hidden: true },
      /pod app-driver: NotStarted: the kubelet of node node-1 has reported nothing about it/,
      /^do {9}check whether the node is healthy: kubectl describe node node-1; more/m,
    ],
    [
      "a scheduler that nobody runs is named, of a job of Volcano, too",
      "job/train",
      { objects: [job, worker], afterMs: 60_000 },
      /^state {6}Pending\nwaits for {2}pod train-worker-0: NotScheduled: no scheduler named volcano has looked at it$/m,
      /^do {9}start the scheduler volcano, or give the pod the name of one that runs; more/m,
    ],
  ];
  for (const [name, of, setting, waitsFor, todo] of cases)
    test(name, async () => {
      const { code, out, err } = await statusOf(of, setting);
      assert.equal(code, 0, err);
      assert.match(out, waitsFor);
      assert.match(out, todo);
    });
});
