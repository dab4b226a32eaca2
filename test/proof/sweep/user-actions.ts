/** The acts of users, and accidents, within a run. */
import { assertNever } from "../../../shared/core/errors.ts";
import { noticeKey } from "../../../shared/core/key.ts";
import type { Change } from "../../../shared/simulator/store.ts";
import { controllerWrites } from "./controllers.ts";
import { cluster, type Stage } from "./execution.ts";
import { textAt } from "./fields.ts";
import { driverLeft, manifest, pods } from "./fixture.ts";
import { placeOf, sweptOf } from "./kinds.ts";
import { home } from "./objects.ts";
import { type Act, appName, namespace } from "./scenario.ts";
import { commandFor, groupOf, queueAt } from "./volcano/things.ts";

const merge = "application/merge-patch+json";

/** Path of the scenario's object. */
const oneOf = ({ theatre }: Stage): string => `${manifest(sweptOf(theatre.scenario), appName, {})[0]}/${appName}`;

const asked = (stage: Stage, method: string, path: string, body?: object, agent?: string): void => {
  const { simulator } = stage.theatre;
  const type = method === "PATCH" ? merge : "application/json";
  stage.actor = "user";
  const answer = simulator.handle({
    method,
    path,
    headers: { "content-type": type, ...(agent === undefined ? {} : { "user-agent": agent }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  stage.actor = "cluster";
  if (answer.status >= 300) throw new Error(`a user's ${method} ${path}: ${answer.body}`);
};

/** The user applies the application and the objects that it needs, and another controller writes its earlier part. */
export const userApplies = (stage: Stage): void => {
  const { scenario, simulator } = stage.theatre;
  for (const one of scenario.stands ?? []) asked(stage, "POST", ...one);
  if (scenario.beside?.first === true) for (const one of controllerWrites("begins", stage)) asked(stage, ...one);
  const [path, body] = manifest(sweptOf(scenario), appName, scenario.spec, scenario.annotations);
  asked(stage, "POST", path, body);
  const { left } = scenario;
  if (left === undefined) return;
  const uid = simulator.store.get("sparkapplications.sparkoperator.k8s.io", `${namespace}/${appName}`)?.metadata.uid;
  asked(stage, "POST", pods, driverLeft(left.driver, uid ?? ""));
  if (left.status !== undefined) asked(stage, "PATCH", `${oneOf(stage)}/status`, { status: left.status });
};

type Which = { readonly pod: RegExp; readonly nth?: number };

/** The pod of an act. A missing one is noted: a run without a fault must have it. */
const podOf = (stage: Stage, { pod, nth = 0 }: Which): Change["object"] | undefined => {
  const number = ({ metadata: { name } }: Change["object"]): number => Number(/\d+$/.exec(name)?.[0] ?? 0);
  const all = stage.theatre.simulator.store.list("pods").filter(({ metadata }) => pod.test(metadata.name));
  const found = all.toSorted((a, b) => number(a) - number(b))[nth];
  if (found === undefined) stage.missed.push(`${pod} ${nth}`);
  return found;
};

/** Freezes the machine of a pod. */
const freeze = (stage: Stage, which: Which): void =>
  stage.theatre.simulator.nodes.freeze(textAt(podOf(stage, which), "spec", "nodeName") ?? "");

const leaving = (stage: Stage, which: Which): void => {
  const node = textAt(podOf(stage, which), "spec", "nodeName");
  if (node === undefined) return;
  const key = noticeKey(cluster, sweptOf(stage.theatre.scenario).kind, node);
  stage.post.send({ ...key, reason: "notice", until: stage.now() + 120_000 }, `notice of ${node}`);
};

const thaw = ({ theatre: { simulator } }: Stage): void => {
  for (const { metadata } of simulator.store.list("nodes")) simulator.nodes.thaw(metadata.name);
};

/** A reference to an object of the scenario's kind: the scenario's own, unless another name is given. */
const oneIn = ({ theatre }: Stage, name = appName) => {
  const swept = sweptOf(theatre.scenario);
  const { kind, group, version, table } = swept;
  const found = theatre.simulator.store.get(table, placeOf(swept, namespace, name));
  return { apiVersion: `${group}/${version}`, kind, name, uid: found?.metadata.uid ?? "" };
};

const queued = (stage: Stage, { queue, state }: { readonly queue: string; readonly state: string }): void => {
  for (const [method, path, body] of queueAt(queue, state, stage.theatre.simulator.store))
    asked(stage, method, path, body);
};

const unhear = (stage: Stage, ms: number): void => {
  stage.watchingIs = "off";
  stage.later(ms, () => stage.relist());
};

/** The key of the scenario's object. */
export const keyOf = ({ theatre }: Stage) => {
  const { kind, everywhere } = sweptOf(theatre.scenario);
  return { cluster, kind, namespace: everywhere ? "" : namespace, name: appName };
};

const trigger = (stage: Stage, times: number): void => {
  const message = { ...keyOf(stage), reason: "trigger" };
  for (let nth = 0; nth < times; nth++) stage.post.send(message, `call ${nth} ${stage.now()}`);
};

/** Path of the record of the scenario's object. */
const recordOf = ({ theatre }: Stage): string => {
  const { kind, everywhere } = sweptOf(theatre.scenario);
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

export const userDoes = (stage: Stage, { says, do: what }: Act): void => {
  stage.log(`a user: ${says}`);
  const { simulator } = stage.theatre;
  switch (what.act) {
    case "apply":
      userApplies(stage);
      break;
    case "delete":
      asked(stage, "DELETE", oneOf(stage));
      break;
    case "patch":
      asked(stage, "PATCH", oneOf(stage), { spec: what.spec });
      break;
    case "annotate":
      asked(stage, "PATCH", oneOf(stage), { metadata: { annotations: what.annotations } });
      break;
    case "remove":
      asked(stage, "DELETE", `${pods}/${what.pod}`);
      break;
    case "record":
      asked(stage, "PATCH", recordOf(stage), { ...unsealed, spec: what.spec });
      break;
    case "edit":
      asked(stage, "PATCH", recordOf(stage), { spec: what.spec });
      break;
    case "cleanup":
      asked(stage, "PATCH", recordOf(stage), {
        ...unsealed,
        spec: { cleanup: orderAt(stage.now(), what.graceSeconds) },
      });
      break;
    case "restart":
      stage.crash();
      break;
    case "unhear":
      unhear(stage, what.ms);
      break;
    case "trigger":
      trigger(stage, what.times);
      break;
    case "kill":
      simulator.killPod(namespace, podOf(stage, what)?.metadata.name ?? "", { code: what.code });
      break;
    case "freeze":
      freeze(stage, what);
      break;
    case "leaving":
      leaving(stage, what);
      break;
    case "thaw":
      thaw(stage);
      break;
    case "command":
      asked(stage, "POST", ...commandFor(oneIn(stage, what.of), what.action));
      break;
    case "group":
      asked(stage, "PATCH", groupOf(oneIn(stage)), { status: { phase: what.phase } });
      break;
    case "write":
      asked(stage, what.method, what.path, what.body);
      break;
    case "queue":
      queued(stage, what);
      break;
    case "controller":
      for (const one of controllerWrites(what.does, stage)) asked(stage, ...one);
      break;
    case "evict":
      simulator.evictPod(namespace, podOf(stage, what)?.metadata.name ?? "");
      break;
    default:
      assertNever(what);
  }
};
