/** Jobs of the scenarios: real shells that run until a gate is opened, and exit with a given code. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { patienceMs } from "../../cluster/api.ts";
import { must } from "../scene.ts";
import { type Page, podsOf, until } from "./book.ts";
import { jobsPath } from "./examples.ts";
import { type Fixture, namespaced } from "./fixture.ts";

/** Runs until it is terminated. */
export const endless = "sleep infinity";

/** Exits with the code once the gate is open; removes the gate, so that only one container passes it. */
export const through = (gate: string, code: number): string =>
  `until rm /gates/${gate} 2>/dev/null; do sleep 0.2; done; exit ${code}`;

/** Like `through`, but takes `seconds` to end after SIGTERM. */
export const lingering = (gate: string, code: number, seconds: number): string =>
  `trap 'sleep ${seconds}; exit 0' TERM; ${through(gate, code)}`;

export type Task = {
  readonly name: string;
  readonly replicas: number;
  /** One shell script per container. */
  readonly runs: readonly string[];
  readonly policies?: readonly object[];
  /** The resources of each container. */
  readonly resources?: object;
  /** Labels that its nodes must have. */
  readonly on?: Readonly<Record<string, string>>;
};

export type Scenario = {
  readonly letter: string;
  readonly name: string;
  readonly run: (fixture: Fixture, namespace: string) => Promise<readonly string[] | { readonly missing: string }>;
};

export const workers = (runs: readonly string[], replicas = 2): Task => ({ name: "w", replicas, runs });

export const onEvent = (event: string, action: string, more: object = {}) => ({
  policies: [{ event, action, ...more }],
});

export type Plan = {
  readonly name: string;
  readonly tasks: readonly Task[];
  /** Merged over the job's spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
};

const taskOf = (gates: string, { name, replicas, runs, policies, resources, on }: Task): object => ({
  name,
  replicas,
  ...(policies === undefined ? {} : { policies }),
  template: {
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 15,
      ...(on === undefined ? {} : { nodeSelector: on }),
      volumes: [{ name: "gates", hostPath: { path: gates, type: "Directory" } }],
      containers: runs.map((script, at) => ({
        name: `c${at}`,
        image: "busybox:1.36",
        command: ["sh", "-c", script],
        volumeMounts: [{ name: "gates", mountPath: "/gates" }],
        ...(resources === undefined ? {} : { resources }),
      })),
    },
  },
});

export type Started = {
  readonly page: Page;
  readonly namespace: string;
  readonly open: (gate: string) => Promise<void>;
};

/** Creates the job in the scenario's own namespace. */
export const created = async ({ scene, book }: Fixture, namespace: string, plan: Plan): Promise<Started> => {
  const gates = join(dirname(scene.hostLog), "gates", namespace);
  await mkdir(gates, { recursive: true });
  await namespaced(scene, namespace);
  const body = {
    apiVersion: "batch.volcano.sh/v1alpha1",
    kind: "Job",
    metadata: { name: plan.name, namespace },
    spec: { schedulerName: "volcano", tasks: plan.tasks.map((task) => taskOf(gates, task)), ...plan.spec },
  };
  const { status, body: answer } = await scene.cluster.api.call("POST", jobsPath(namespace), body);
  must(status === 201, `${plan.name} is not created: ${JSON.stringify(answer)}`);
  return { page: book.of(namespace, plan.name), namespace, open: (gate) => writeFile(join(gates, gate), "") };
};

/** Waits until the job is Running with this many pods; the job and all its pods have this version. */
export const untilUp = ({ page }: Started, pods: number, version = 0): Promise<void> =>
  until(
    `Running with ${pods} pods of version ${version}`,
    () => {
      const { status } = page.last ?? {};
      const mine = podsOf(page).filter(
        (one) =>
          one.status.phase === "Running" && one.metadata.annotations["volcano.sh/job-version"] === String(version),
      );
      return (
        status?.state.phase === "Running" &&
        status.running === pods &&
        status.version === version &&
        mine.length === pods
      );
    },
    page,
    patienceMs,
  );

export const untilPhase = ({ page }: Started, phase: string): Promise<void> =>
  until(phase, () => page.last?.status?.state.phase === phase, page, patienceMs);

/** Waits until this many pods show the phase, with or without a controller. */
export const untilPods = ({ page }: Started, phase: string, count: number): Promise<void> =>
  until(
    `${count} pods ${phase}`,
    () => podsOf(page).filter((one) => one.status.phase === phase).length === count,
    page,
    patienceMs,
  );

/** Asserts the retries and the version of the job. */
export const countedAs = ({ page }: Started, retryCount: number, version: number): void => {
  const { status } = page.last ?? {};
  must(
    status?.retryCount === retryCount && status.version === version,
    `retryCount ${status?.retryCount}, version ${status?.version}; expected ${retryCount}, ${version}`,
  );
};

/** Returns the phases that the job has shown. */
export const shown = ({ page }: Started): string => page.phases.join(" → ");

export const commands = "/apis/bus.volcano.sh/v1alpha1";

/** Creates an AbortJob command for the job, and waits until the job is Aborted and the command is gone. */
export const abortedBy = async ({ scene }: Fixture, job: Started): Promise<void> => {
  const { api } = scene.cluster;
  const { namespace, page } = job;
  const { uid, name } = page.last?.metadata ?? { uid: "", name: "" };
  const target = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name, uid, controller: true };
  const metadata = { name: `${name}-abortjob-1`, namespace, ownerReferences: [target] };
  const command = { apiVersion: "bus.volcano.sh/v1alpha1", kind: "Command", metadata, action: "AbortJob", target };
  const { status, body } = await api.call("POST", `${commands}/namespaces/${namespace}/commands`, command);
  must(status === 201, `the command is not created: ${JSON.stringify(body)}`);
  await untilPhase(job, "Aborted");
  const path = `${commands}/namespaces/${namespace}/commands/${metadata.name}`;
  await api.until(path, (reply) => reply.status === 404, 30_000);
};
