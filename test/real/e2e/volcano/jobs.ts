/** Jobs of the scenarios: real shells that go on until a gate is opened, and end as it says. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { must } from "../scene.ts";
import { type Page, podsOf, until } from "./book.ts";
import { jobsPath } from "./examples.ts";
import { namespaced, type Stage } from "./stage.ts";

/** Goes on for ever. */
export const endless = "sleep infinity";

/** Ends with the code once the gate is open; takes the gate away, so that only one goes through. */
export const through = (gate: string, code: number): string =>
  `until rm /gates/${gate} 2>/dev/null; do sleep 0.2; done; exit ${code}`;

/** The same, and is slow to leave when it is told to. */
export const lingering = (gate: string, code: number, seconds: number): string =>
  `trap 'sleep ${seconds}; exit 0' TERM; ${through(gate, code)}`;

export type Task = {
  readonly name: string;
  readonly replicas: number;
  /** A shell's words per container. */
  readonly runs: readonly string[];
  readonly policies?: readonly object[];
  /** Labels of the nodes that it may be on. */
  readonly on?: Readonly<Record<string, string>>;
};

export type Scenario = {
  readonly letter: string;
  readonly name: string;
  readonly run: (stage: Stage, namespace: string) => Promise<readonly string[] | { readonly missing: string }>;
};

export const workers = (runs: readonly string[], replicas = 2): Task => ({ name: "w", replicas, runs });

export const onEvent = (event: string, action: string, more: object = {}) => ({
  policies: [{ event, action, ...more }],
});

export type Plan = {
  readonly name: string;
  readonly tasks: readonly Task[];
  /** Laid over the job's spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
};

const taskOf = (gates: string, { name, replicas, runs, policies, on }: Task): object => ({
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
      })),
    },
  },
});

export type Started = {
  readonly page: Page;
  readonly namespace: string;
  readonly open: (gate: string) => Promise<void>;
};

/** Created in a namespace of the scenario's own. */
export const created = async ({ scene, book }: Stage, namespace: string, plan: Plan): Promise<Started> => {
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

const patienceMs = 150_000;

/** Running, with so many of its pods; `version` is of the job and of all its pods. */
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

/** So many pods of it show the phase, with or without a controller. */
export const untilPods = ({ page }: Started, phase: string, count: number): Promise<void> =>
  until(
    `${count} pods ${phase}`,
    () => podsOf(page).filter((one) => one.status.phase === phase).length === count,
    page,
    patienceMs,
  );

/** Its retries and its version. */
export const countedAs = ({ page }: Started, retryCount: number, version: number): void => {
  const { status } = page.last ?? {};
  must(
    status?.retryCount === retryCount && status.version === version,
    `retryCount ${status?.retryCount}, version ${status?.version}; expected ${retryCount}, ${version}`,
  );
};

/** The phases that it showed. */
export const shown = ({ page }: Started): string => page.phases.join(" → ");
