/** The workloads of the guard: short forms of what the other benchmarks measure, on the simulator. */
import { setTimeout as sleep } from "node:timers/promises";
import { each } from "../../support/parallel.ts";
import { sparkPi } from "../../support/pi.ts";
import type { Server, ServerOptions } from "../served.ts";
import type { Held } from "./recorder.ts";

export type Form = {
  readonly name: string;
  readonly server: ServerOptions;
  /** Requests to withhold and to count; the form's figure is then how many are in flight at once. */
  readonly held?: Held;
  /** Creates what exists before the measurement. */
  readonly before?: (server: Server) => Promise<void>;
  /** The measured work; resolves when its result is there, and throws when it is wrong. */
  readonly work: (server: Server) => Promise<void>;
};

type Fields = Readonly<Record<string, unknown>>;

const longestMs = 60_000;
const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/small/sparkapplications";
const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/small/jobs";
const pods = "/api/v1/namespaces/small/pods";

const call = async ({ url }: Server, method: string, path: string, body?: object): Promise<Fields> => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Fields;
};

type Item = {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status?: Fields & { readonly phase?: string };
};

const itemsOf = async (server: Server, path: string): Promise<readonly Item[]> =>
  (await call(server, "GET", path))["items"] as readonly Item[];

const podsOf = (server: Server, role: string): Promise<readonly Item[]> =>
  itemsOf(server, `${pods}?labelSelector=spark-role%3D${role}`);

const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  for (const end = performance.now() + longestMs; !(await holds()); await sleep(200))
    if (performance.now() > end) throw new Error(`${what}: not after ${longestMs / 1_000} s`);
};

const createAll = (server: Server, path: string, objects: readonly object[]): Promise<void> =>
  each(objects, (object) => call(server, "POST", path, object), 8);

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

const application = (name: string, spec: Fields = {}, annotations: Fields = {}): object => {
  const { metadata, ...rest } = sparkPi(name, { executor: { instances: 2, cores: 1, memory: "512m" }, ...spec });
  return { ...rest, metadata: { ...metadata, namespace: "small", annotations } };
};

const stateOf = ({ status }: Item): unknown => (status?.["applicationState"] as Fields | undefined)?.["state"];

const allAre = (server: Server, state: string, count: number): Promise<void> =>
  until(`${count} applications ${state}`, async () => {
    const found = await itemsOf(server, applications);
    return found.filter((item) => stateOf(item) === state).length === count;
  });

const job = (name: string, replicas: number): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "small" },
  spec: {
    schedulerName: "default-scheduler",
    minAvailable: replicas,
    tasks: [
      {
        name: "w",
        replicas,
        policies: [{ event: "TaskCompleted", action: "CompleteJob" }],
        template: {
          spec: {
            restartPolicy: "Never",
            containers: [
              {
                name: "c",
                image: "busybox",
                command: ["sh", "-c", "sleep 6"],
                resources: { requests: { cpu: "10m" } },
              },
            ],
          },
        },
      },
    ],
  },
});

const completed = (server: Server, count: number): Promise<void> =>
  until(`${count} jobs Completed`, async () => {
    const found = await itemsOf(server, jobs);
    const phase = ({ status }: Item): unknown => (status?.["state"] as Fields | undefined)?.["phase"];
    return found.filter((item) => phase(item) === "Completed").length === count;
  });

/**
 * The shortest time in which a pod starts, and in which it runs, where requests are counted. A step comes at least every
 * 2 s, so each state of a pod is seen, on slow and on fast machines.
 */
const seenMs = 5_000;

const nodes = numbers(4).map((at) => ({ name: `node-${at}` }));
const script = { startMs: seenMs, bootMs: 200, jobMs: 2 * seenMs, executors: { "*": { startMs: seenMs } } };

const running = async (server: Server, count: number): Promise<void> =>
  await until(`${count} executors Running`, async () => {
    const found = await podsOf(server, "executor");
    return (
      found.filter(({ status, metadata }) => status?.phase === "Running" && !metadata.deletionTimestamp).length ===
      count
    );
  });

const losing = 4;
const executors = 25;

export const forms: readonly Form[] = [
  {
    name: "submit-200",
    server: {},
    work: async (server) => {
      await createAll(
        server,
        applications,
        numbers(200).map((at) => application(`one-${at}`)),
      );
      await allAre(server, "SUBMITTED", 200);
      const drivers = await podsOf(server, "driver");
      if (drivers.length !== 200) throw new Error(`${drivers.length} drivers of 200`);
    },
  },
  {
    // The steps of one namespace that a host takes at once. Their times differ between machines, their number does not.
    name: "steps-at-once",
    server: {},
    held: { method: "POST", path: /\/checkpoints(\?|$)/, ms: 500 },
    work: async (server) => {
      await createAll(
        server,
        applications,
        numbers(64).map((at) => application(`one-${at}`)),
      );
      await allAre(server, "SUBMITTED", 64);
    },
  },
  {
    name: "life-40",
    server: { nodes, scripts: { "*": [script] } },
    work: async (server) => {
      await createAll(
        server,
        applications,
        numbers(40).map((at) => application(`one-${at}`)),
      );
      await allAre(server, "COMPLETED", 40);
    },
  },
  {
    name: "loss-100",
    server: { nodes, scripts: { "*": [{ ...script, hangs: true }] } },
    before: async (server) => {
      const spec = { executor: { instances: executors, cores: 1, memory: "512m" } };
      const own = { "rekindle.dev/executors": "own" };
      await createAll(
        server,
        applications,
        numbers(losing).map((at) => application(`one-${at}`, spec, own)),
      );
      await running(server, losing * executors);
    },
    work: async (server) => {
      const lost = await podsOf(server, "executor");
      for (const { metadata } of lost) await call(server, "DELETE", `${pods}/${metadata.name}?gracePeriodSeconds=0`);
      const uids = new Set(lost.map(({ metadata }) => metadata.uid));
      await running(server, losing * executors);
      const kept = (await podsOf(server, "executor")).filter(({ metadata }) => uids.has(metadata.uid));
      if (kept.length > 0) throw new Error(`${kept.length} lost executors are still there`);
    },
  },
  {
    name: "job-of-300",
    server: { nodes, commands: true },
    work: async (server) => {
      await createAll(server, jobs, [job("wide", 300)]);
      await completed(server, 1);
    },
  },
  {
    name: "jobs-60",
    server: { nodes, commands: true },
    work: async (server) => {
      await createAll(
        server,
        jobs,
        numbers(60).map((at) => job(`one-${at}`, 1)),
      );
      await completed(server, 60);
    },
  },
];
