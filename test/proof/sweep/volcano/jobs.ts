/** The parts of Volcano scenarios: a master and two workers, the courses of their pods, and user actions. */
import { numberAt, textAt } from "../fields.ts";
import { appName, canaries, type Scenario, type UserAction } from "../scenario.ts";
import type { Life, Lives } from "./simulator-parts.ts";

type When = UserAction["when"];
type Fields = Readonly<Record<string, unknown>>;

const container = (name: string): object => ({
  name,
  image: "busybox",
  env: [{ name: "TOKEN", value: canaries[0] }],
});

type Tasked = { readonly replicas?: number; readonly containers?: readonly string[]; readonly restartPolicy?: string };

/** One task of a job; `more` is merged over it. */
export const task = (
  name: string,
  { replicas = 1, containers = ["main"], restartPolicy = "Never" }: Tasked = {},
  more: Fields = {},
): Fields => ({
  name,
  replicas,
  template: { spec: { restartPolicy, containers: containers.map(container) } },
  ...more,
});

export const master = task("master");
export const workers = task("worker", { replicas: 2 });

export const policy = (event: string, action: string, more: Fields = {}): Fields => ({ event, action, ...more });

export const plugins = { svc: [], ssh: [], env: [] } as const;

/** Courses of pods, by the part of their name after the job's. */
export const living = (lives: Readonly<Record<string, readonly Life[]>>): Lives =>
  Object.fromEntries(Object.entries(lives).map(([name, each]) => [name === "*" ? name : `${appName}-${name}`, each]));

export const done: Life = { runMs: 3_000 };
/** Longer than a step's return after a death, or the replacement of a lost message. */
export const slowly: Life = { runMs: 600_000 };
export const fails: Life = { runMs: 2_000, exitCode: 3 };
/** Runs until it is told to end. */
export const long: Life = {};

export const podRuns =
  (name: string): When =>
  ({ table, object }) =>
    table === "pods" &&
    object.metadata.name === `${appName}-${name}` &&
    textAt(object, "status", "phase") === "Running";

/** The pod runs in this version of the job. */
export const podRunsIn =
  (name: string, version: string): When =>
  (change) =>
    podRuns(name)(change) && change.object.metadata.annotations?.["volcano.sh/job-version"] === version;

export const podIs =
  (name: string, phase: string): When =>
  ({ table, object }) =>
    table === "pods" && object.metadata.name === `${appName}-${name}` && textAt(object, "status", "phase") === phase;

export const phaseIs =
  (phase: string): When =>
  ({ table, object }) =>
    table === "jobs.batch.volcano.sh" &&
    object.metadata.name === appName &&
    textAt(object, "status", "state", "phase") === phase;

/** The status counts this many running pods: their ends are observable from then on. */
export const runningIs =
  (many: number): When =>
  (change) =>
    phaseIs("Running")(change) && numberAt(change.object, "status", "running") === many;

/** The same for a later version of the job. */
export const runningIn =
  (version: number, many: number): When =>
  (change) =>
    runningIs(many)(change) && numberAt(change.object, "status", "version") === version;

export const succeededIs =
  (many: number): When =>
  (change) =>
    phaseIs("Running")(change) && numberAt(change.object, "status", "succeeded") === many;

export const applied: When = ({ type, table, object }) =>
  type === "ADDED" && table === "jobs.batch.volcano.sh" && object.metadata.name === appName;

export const kill = (name: string, code: number, when: When, afterMs = 1_000): UserAction => ({
  says: `${name} dies with ${code}`,
  when,
  afterMs,
  do: { type: "kill", pod: new RegExp(`^${appName}-${name}$`), code },
});

export const remove = (name: string, when: When, afterMs = 1_000): UserAction => ({
  says: `kubectl delete pod ${name}`,
  when,
  afterMs,
  do: { type: "remove", pod: `${appName}-${name}` },
});

type Told = Pick<Scenario, "name" | "what" | "ends"> & Partial<Scenario>;

/** A scenario about a job of these tasks and policies, which is run sparsely unless it says otherwise. */
export const job = (told: Told): Scenario => ({
  kind: "Job",
  scripts: {},
  lives: { "*": [done] },
  userActions: [],
  breadth: "sparse",
  ...told,
  spec: { maxRetry: 3, tasks: [master, workers], ...told.spec },
});

/** A quota of Jobs in the namespace. */
export const jobQuota = (jobs: number): readonly [string, object] => [
  "/api/v1/namespaces/default/resourcequotas",
  {
    ...{ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "jobs" } },
    spec: { hard: { "count/jobs.batch.volcano.sh": `${jobs}` } },
  },
];
