/** The user actions of an execution: writes of users, and accidents such as evictions. */
import { assertNever } from "../../../shared/core/http.ts";
import { noticeKey } from "../../../shared/core/key.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { controllerWrites, forgedAtFirst } from "./controllers.ts";
import { cluster, type Execution } from "./execution.ts";
import { textAt } from "./fields.ts";
import { driverLeft, manifest, pods } from "./fixture.ts";
import { placeOf, sweptOf } from "./kinds.ts";
import { home } from "./objects.ts";
import { appName, namespace, type UserAction } from "./scenario.ts";
import { commandFor, groupOf, queueAt } from "./volcano/things.ts";

const merge = "application/merge-patch+json";

/** Path of the scenario's object. */
const oneOf = ({ fixture }: Execution): string => `${manifest(sweptOf(fixture.scenario), appName, {})[0]}/${appName}`;

const asked = (execution: Execution, method: string, path: string, body?: object, agent?: string): void => {
  const { simulator } = execution.fixture;
  const type = method === "PATCH" ? merge : "application/json";
  execution.actor = "user";
  const answer = simulator.handle({
    method,
    path,
    headers: { "content-type": type, ...(agent === undefined ? {} : { "user-agent": agent }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  execution.actor = "cluster";
  if (answer.status >= 300) throw new Error(`a user's ${method} ${path}: ${answer.body}`);
};

/** The user applies the application and the objects that it needs, and another controller writes its earlier part. */
export const userApplies = (execution: Execution): void => {
  const { scenario, simulator } = execution.fixture;
  for (const [at, object, method = "POST"] of scenario.stands ?? []) asked(execution, method, at, object);
  if (scenario.beside !== undefined)
    for (const one of forgedAtFirst(scenario, execution.now())) asked(execution, ...one);
  if (scenario.beside?.first === true)
    for (const one of controllerWrites("begins", scenario, execution.now())) asked(execution, ...one);
  const [path, body] = manifest(sweptOf(scenario), appName, scenario.spec, scenario.annotations, scenario.labels);
  asked(execution, "POST", path, body);
  const { left } = scenario;
  if (left === undefined) return;
  const uid = simulator.store.get("sparkapplications.sparkoperator.k8s.io", `${namespace}/${appName}`)?.metadata.uid;
  asked(execution, "POST", pods, driverLeft(left.driver, uid ?? ""));
  if (left.status !== undefined) asked(execution, "PATCH", `${oneOf(execution)}/status`, { status: left.status });
};

type Which = { readonly pod: RegExp; readonly nth?: number };

/** The pod of a user action. A missing one is noted: the baseline must have it. */
const podOf = (execution: Execution, { pod, nth = 0 }: Which): Change["object"] | undefined => {
  const number = ({ metadata: { name } }: Change["object"]): number => Number(/\d+$/.exec(name)?.[0] ?? 0);
  const all = execution.fixture.simulator.store.list("pods").filter(({ metadata }) => pod.test(metadata.name));
  const found = all.toSorted((a, b) => number(a) - number(b))[nth];
  if (found === undefined) execution.missed.push(`${pod} ${nth}`);
  return found;
};

/** Freezes the machine of a pod. */
const freeze = (execution: Execution, which: Which): void =>
  execution.fixture.simulator.nodes.freeze(textAt(podOf(execution, which), "spec", "nodeName") ?? "");

/** A notice says that a machine goes after this time, or has gone; or that it stays. */
const noticed = (execution: Execution, node: string, inMs: number | undefined): void => {
  const key = noticeKey(cluster, sweptOf(execution.fixture.scenario).kind, node);
  const says = inMs === undefined ? ({ stays: true } as const) : { until: execution.now() + inMs };
  execution.post.send({ ...key, reason: "notice", ...says }, `notice of ${node} ${inMs ?? "of none"}`);
};

const staying = (execution: Execution): void => {
  for (const { metadata } of execution.fixture.simulator.store.list("nodes"))
    noticed(execution, metadata.name, undefined);
};

const nodeOf = (execution: Execution, which: Which): string | undefined =>
  textAt(podOf(execution, which), "spec", "nodeName");

const leaving = (execution: Execution, which: Which): void => {
  const node = nodeOf(execution, which);
  if (node !== undefined) noticed(execution, node, 120_000);
};

/** Deletes the machine of a pod; the watch of nodes sends what it sends for each deleted node. */
const unplug = (execution: Execution, which: Which): void => {
  const node = nodeOf(execution, which);
  if (node === undefined) return;
  execution.fixture.simulator.nodes.remove(node);
  noticed(execution, node, 0);
};

const thaw = ({ fixture: { simulator } }: Execution): void => {
  for (const { metadata } of simulator.store.list("nodes")) simulator.nodes.thaw(metadata.name);
};

const finalize = (execution: Execution, pod: Change["object"], finalizers: readonly string[] | null): void =>
  asked(execution, "PATCH", `${pods}/${pod.metadata.name}`, { metadata: { finalizers } });

const hold = (execution: Execution, which: Which): void => {
  const pod = podOf(execution, which);
  if (pod !== undefined) finalize(execution, pod, ["example.com/held"]);
};

const release = (execution: Execution): void => {
  const all = execution.fixture.simulator.store.list("pods");
  for (const pod of all) if (pod.metadata.finalizers !== undefined) finalize(execution, pod, null);
};

/** A reference to an object of the scenario's kind: the scenario's own, unless another name is given. */
const oneIn = ({ fixture }: Execution, name = appName) => {
  const swept = sweptOf(fixture.scenario);
  const { apiKind: kind, group, version, table } = swept;
  const found = fixture.simulator.store.get(table, placeOf(swept, namespace, name));
  return { apiVersion: `${group}/${version}`, kind, name, uid: found?.metadata.uid ?? "" };
};

const queued = (execution: Execution, { queue, state }: { readonly queue: string; readonly state: string }): void => {
  for (const [method, path, body] of queueAt(queue, state, execution.fixture.simulator.store))
    asked(execution, method, path, body);
};

const unhear = (execution: Execution, ms: number): void => {
  execution.watchingIs = "off";
  execution.later(ms, () => execution.relist());
};

/** The key of the scenario's object. */
export const keyOf = ({ fixture }: Execution) => {
  const { kind, everywhere } = sweptOf(fixture.scenario);
  return { cluster, kind, namespace: everywhere ? "" : namespace, name: appName };
};

const trigger = (execution: Execution, times: number): void => {
  const message = { ...keyOf(execution), reason: "trigger" };
  for (let nth = 0; nth < times; nth++) execution.post.send(message, `call ${nth} ${execution.now()}`);
};

/** Path of the record of the scenario's object. */
const recordOf = ({ fixture }: Execution): string => {
  const { kind, everywhere } = sweptOf(fixture.scenario);
  const at = `/apis/rekindle.dev/v1alpha1/namespaces/${everywhere ? home : namespace}/checkpoints`;
  return `${at}/${kind.toLowerCase()}.${appName}`;
};

/** Removes the seal, as an earlier version saves a record. An edited record keeps its seal, which tells the edit. */
const unsealed = { metadata: { annotations: { "rekindle.dev/seal": null } } };

const orderAt = (since: number, graceSeconds: number): object => ({
  since,
  graceSeconds,
  forceAt: since + graceSeconds * 1_000,
});

export const userDoes = (execution: Execution, { says, do: what }: UserAction): void => {
  execution.log(`a user: ${says}`);
  const { simulator } = execution.fixture;
  switch (what.type) {
    case "apply":
      userApplies(execution);
      break;
    case "delete":
      asked(execution, "DELETE", oneOf(execution));
      break;
    case "patch":
      asked(execution, "PATCH", oneOf(execution), { spec: what.spec });
      break;
    case "annotate":
      asked(execution, "PATCH", oneOf(execution), { metadata: { annotations: what.annotations } });
      break;
    case "remove":
      asked(execution, "DELETE", `${pods}/${what.pod}`);
      break;
    case "record":
      asked(execution, "PATCH", recordOf(execution), { ...unsealed, spec: what.spec });
      break;
    case "edit":
      asked(execution, "PATCH", recordOf(execution), { spec: what.spec });
      break;
    case "cleanup":
      asked(execution, "PATCH", recordOf(execution), {
        ...unsealed,
        spec: { cleanup: orderAt(execution.now(), what.graceSeconds) },
      });
      break;
    case "restart":
      execution.crash();
      break;
    case "unhear":
      unhear(execution, what.ms);
      break;
    case "trigger":
      trigger(execution, what.times);
      break;
    case "kill":
      simulator.killPod(namespace, podOf(execution, what)?.metadata.name ?? "", what);
      break;
    case "freeze":
      freeze(execution, what);
      break;
    case "leaving":
      leaving(execution, what);
      break;
    case "staying":
      staying(execution);
      break;
    case "thaw":
      thaw(execution);
      break;
    case "unplug":
      unplug(execution, what);
      break;
    case "hold":
      hold(execution, what);
      break;
    case "release":
      release(execution);
      break;
    case "command":
      asked(execution, "POST", ...commandFor(oneIn(execution, what.of), what.action));
      break;
    case "group":
      asked(execution, "PATCH", groupOf(oneIn(execution)), { status: { phase: what.phase } });
      break;
    case "write":
      asked(execution, what.method, what.path, what.body);
      break;
    case "queue":
      queued(execution, what);
      break;
    case "controller":
      for (const one of controllerWrites(what.does, execution.fixture.scenario, execution.now()))
        asked(execution, ...one);
      break;
    case "evict":
      simulator.evictPod(namespace, podOf(execution, what)?.metadata.name ?? "");
      break;
    default:
      assertNever(what);
  }
};
