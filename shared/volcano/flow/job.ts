/**
 * The Job that a flow creates from a template, with upstream's name, labels, annotations and owner. Probes of a
 * dependency are conditions on the tasks of a job, so that the next job is created before that job is complete. A
 * complete job passes every probe.
 */

import { all, firstOf, list, proxyGet, type Reads, settled } from "../../core/decision.ts";
import { fieldsOf, isRecord, withoutNulls } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import type { Effect, Looking, ProbeResult, Query } from "../../core/plan.ts";
import { inheritedListener } from "../../core/updates.ts";
import type { WaitingOn } from "../../core/waiting-on.ts";
import { labelOf, ownedBy, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { phaseOf, shownBy } from "../child-jobs.ts";
import { jobFlows, jobs, keys } from "../schema/resource.ts";
import { leastOf, nameOf, specSchema, type Task, tasksOf } from "../schema/spec.ts";
import type { Flow, Probe } from "../schema/workflows.ts";
import { jobName, makerText } from "./read.ts";

/** Values that the API server fills into every patch by itself; they are not the user's. */
const filledIn: Json = { queue: "default", maxRetry: 3 };

type Keys = Readonly<Record<string, string>>;

/** Lists of a pod and its containers whose items Kubernetes merges by this field. */
const mergeKeys: Keys = {
  tasks: "name",
  containers: "name",
  initContainers: "name",
  env: "name",
  volumes: "name",
  imagePullSecrets: "name",
  resourceClaims: "name",
  ports: "containerPort",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
  hostAliases: "ip",
  topologySpreadConstraints: "topologyKey",
};

/** Lists whose items have one of several fields: an item with two of them would be invalid, so items are replaced. */
const replaced = new Set(["env", "volumes"]);

type Items = readonly unknown[];

const mergedItems = (name: string, key: string, base: Items, patch: Items): unknown => {
  const keyOf = (item: unknown): unknown => (isRecord(item) ? item[key] : undefined);
  const known = new Set<unknown>(base.map(keyOf).filter((value) => value !== undefined));
  const changed = base.map((item) => {
    const others = patch.filter((one) => keyOf(one) !== undefined && keyOf(one) === keyOf(item));
    return others.reduce<unknown>(
      (before, other) => (replaced.has(name) ? other : merged(before, other, mergeKeys)),
      item,
    );
  });
  return [...changed, ...patch.filter((item) => !known.has(keyOf(item)))];
};

/** Merges objects by field and replaces anything else. Null deletes a field. */
const merged = (base: unknown, patch: unknown, keyed: Keys): unknown => {
  if (!isRecord(base) || !isRecord(patch)) return patch;
  const field = (name: string, value: unknown): unknown => {
    const [key, there] = [keyed[name], base[name]];
    if (key === undefined || !Array.isArray(there) || !Array.isArray(value)) return merged(there, value, mergeKeys);
    return mergedItems(name, key, there, value);
  };
  const changed = Object.entries(patch).map(([name, value]): [string, unknown] => [name, field(name, value)]);
  const whole = { ...base, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== null));
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Appends the patch's arguments of a plugin to the template's. */
const withPlugins = (base: unknown, patch: unknown): unknown => {
  if (!isRecord(base) || !isRecord(patch)) return patch;
  const joined = Object.entries(patch).map(([name, args]) => [name, [...listOf(base[name]), ...listOf(args)]]);
  return { ...base, ...Object.fromEntries(joined) };
};

/** Returns the spec of a job: the template's with the patch over it, as upstream's design of parameter overriding. */
export const patched = (template: Json, patch: Json | undefined): Json => {
  if (patch === undefined) return template;
  const said = Object.fromEntries(Object.entries(patch).filter(([name, value]) => filledIn[name] !== value));
  const { plugins, networkTopology, ...rest } = said;
  const spec = merged(template, rest, { ...mergeKeys, volumes: "mountPath" });
  return {
    ...fieldsOf(spec),
    ...(networkTopology === undefined ? {} : { networkTopology }),
    ...(plugins === undefined ? {} : { plugins: withPlugins(template["plugins"], plugins) }),
  };
};

const jobOf = ({ metadata }: Stored, flow: Flow, template: Stored): Obj => {
  const { name, namespace = "", uid, annotations } = metadata;
  const makers = { [keys.byTemplate]: makerText(namespace, flow.name), [keys.byFlow]: makerText(namespace, name) };
  const owner = { apiVersion: apiVersionOf(jobFlows), kind: jobFlows.kind, name, uid };
  return {
    apiVersion: apiVersionOf(jobs),
    kind: jobs.kind,
    metadata: {
      name: jobName(name, flow.name),
      namespace,
      labels: makers,
      annotations: { ...makers, ...inheritedListener(annotations) },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: patched(fieldsOf(template.spec), flow.patch?.jobSpec),
  };
};

/** Creates the job of a flow; if it exists already, it is this very one. */
export const creation = (object: Stored, flow: Flow, template: Stored): Effect => ({
  do: "create",
  object: jobOf(object, flow, template),
  resource: jobs,
  owner: object.metadata.uid,
});

/** The most pods of a task that are probed, if it needs more: each costs a request through the API server. */
const mostQueries = 20;

export type Verdict = { readonly met: true } | { readonly met: false; readonly why: WaitingOn };

const met: Verdict = { met: true };

const unmet = (why: WaitingOn): Verdict => ({ met: false, why });

/** Returns the first verdict that is not met, after which nothing more is read; all others are read together. */
function* allOf(verdicts: readonly Reads<Verdict>[]): Reads<Verdict> {
  return (yield* firstOf(verdicts, (verdict) => !verdict.met)) ?? met;
}

const tasksIn = (job: Stored): readonly Task[] => {
  const spec = specSchema.safeParse(withoutNulls(job.spec ?? {}));
  return spec.success ? tasksOf(spec.data) : [];
};

/** Returns the task of this name, or all tasks without one. */
const tasksNamed = (job: Stored, taskName = ""): readonly Task[] =>
  tasksIn(job).filter((task) => taskName === "" || nameOf(task) === taskName);

const podsOf = ({ metadata: { name, namespace = "" } }: Stored): Looking => ({
  do: "list",
  resource: pods,
  namespace,
  labels: { [keys.jobName]: name },
});

const podsThat = (job: Stored, task: Task, [there, least]: readonly [number, number], that: string): WaitingOn => ({
  on: "pods",
  there,
  least,
  task: nameOf(task),
  job: job.metadata.name,
  that,
});

const unknownTask = (name: string): WaitingOn => ({
  on: "mistake",
  message: `none of its jobs has a task ${JSON.stringify(name)}: correct dependsOn.probe`,
});

/** Met if enough pods of the task answer as they should. */
function* answering(job: Stored, task: Task, asking: (pod: Stored) => Question, what: string): Reads<Verdict> {
  const found = yield* list(podsOf(job));
  const least = Math.min(leastOf(task), mostQueries);
  const running = found
    .filter((pod) => ownedBy(pod, job.metadata.uid) && labelOf(pod, keys.taskSpec) === nameOf(task))
    .filter((pod) => podStatus(pod).phase === "Running")
    .slice(0, mostQueries);
  if (running.length < least) return unmet(podsThat(job, task, [running.length, least], "run"));
  const answers = yield* all(running.map((pod) => answerOf(asking(pod))));
  const good = answers.filter(isGood).length;
  return good >= least ? met : unmet(podsThat(job, task, [good, least], what));
}

type Question = Extract<Query, { do: "proxyGet" }>;

type ProbeAnswer = { readonly question: Question; readonly result: ProbeResult };

function* answerOf(question: Question): Reads<ProbeAnswer> {
  return { question, result: yield* proxyGet(question) };
}

/** The API server's messages about a connection that failed or was not allowed; any other message is an answer. */
const unconnected = /dial tcp|no route to host|i\/o timeout|is forbidden: User|"reason":"(NotFound|BadRequest)"/;

/** True if the pod took the connection. One that sends nothing before the timeout counts as unconnected. */
const isConnected = (hearing: ProbeResult): boolean => {
  if (hearing.heard) return true;
  if (hearing.why === "timeout" || unconnected.test(hearing.message)) return false;
  return hearing.why !== "unreachable" || hearing.message.startsWith("HTTP ");
};

/** True for an answer below 400 to a path, and for a connection to a bare port. */
const isGood = ({ question, result }: ProbeAnswer): boolean => {
  if (question.query !== bare) return result.heard || result.why === "notJson" || result.why === "tooLong";
  return isConnected(result);
};

/** Marks a query that only needs a connection. */
const bare = "rekindle-probe";

const podRef = ({ metadata: { name, namespace = "" } }: Stored) => ({ resource: pods, namespace, name });

type Http = NonNullable<Probe["httpGetList"]>[number];

const httpQuery =
  ({ path = "", port = 80, httpHeader }: Http) =>
  (pod: Stored): Question => {
    const [place = "", ...query] = path.split("?");
    return {
      do: "proxyGet",
      pod: podRef(pod),
      port,
      path: place.split("/").filter((part) => part !== ""),
      ...(query.length === 0 ? {} : { query: query.join("?") }),
      ...(httpHeader === undefined ? {} : { header: { name: httpHeader.name, value: httpHeader.value } }),
    };
  };

const tcpQuery =
  (port: number) =>
  (pod: Stored): Question => ({ do: "proxyGet", pod: podRef(pod), port, path: [], query: bare });

type TaskStatus = NonNullable<Probe["taskStatusList"]>[number];

/** Compares the job's counts of pods with the phase; a Completed task has Succeeded pods. */
const stands = (job: Stored, task: Task, { phase = "" }: TaskStatus): Verdict => {
  const wanted = phase === "Completed" ? "Succeeded" : phase;
  const counts = shownBy(job).taskStatusCount?.[nameOf(task)]?.phase ?? {};
  const [there, least] = [counts[wanted] ?? 0, leastOf(task)];
  return there >= least ? met : unmet(podsThat(job, task, [there, least], `are ${wanted}`));
};

type ProbeRule = { readonly taskName: string | undefined; readonly judge: (job: Stored, task: Task) => Reads<Verdict> };

const rulesOf = (probe: Probe): readonly ProbeRule[] => [
  ...(probe.httpGetList ?? []).map((one) => ({
    taskName: one.taskName,
    judge: (job: Stored, task: Task) =>
      answering(job, task, httpQuery(one), `answer at ${one.port ?? 80}${one.path ?? ""}`),
  })),
  ...(probe.tcpSocketList ?? []).map(({ taskName, port }) => ({
    taskName,
    judge: (job: Stored, task: Task) => answering(job, task, tcpQuery(port), `take connections at ${port}`),
  })),
  ...(probe.taskStatusList ?? []).map((one) => ({
    taskName: one.taskName,
    judge: (job: Stored, task: Task) => settled(stands(job, task, one)),
  })),
];

/** True if the probe asks for anything. */
export const isProbe = (probe: Probe | undefined): probe is Probe => isRecord(probe) && rulesOf(probe).length > 0;

/** Checks a probe on the jobs of a dependency; an undefined one was complete and is gone. */
export const probed = (targets: readonly (Stored | undefined)[], probe: Probe): Reads<Verdict> => {
  const there = targets.filter((job) => job !== undefined);
  const open = there.filter((job) => phaseOf(job) !== "Completed");
  const verdicts = rulesOf(probe).flatMap(({ taskName = "", judge }): readonly Reads<Verdict>[] => {
    const isKnown = there.length < targets.length || there.some((job) => tasksNamed(job, taskName).length > 0);
    if (!isKnown) return [settled(unmet(unknownTask(taskName)))];
    return open.flatMap((job) => tasksNamed(job, taskName).map((task) => judge(job, task)));
  });
  return allOf(verdicts);
};
