/**
 * `rekindle/sweep`: proves a kind of another package on the simulator. A life of one object is run without a fault, then
 * once for each fault at each call of its steps and for each message: the process dies before or after the call, the call
 * fails, another writer comes first, the message is lost or comes twice.
 *
 * W1. After each action of the life the cluster comes to rest, and a further resync writes nothing.
 * W2. At rest the status, and the owned objects by resource, are those of the life without a fault.
 * W3. Nothing is made twice: no more objects are created than in the life without a fault.
 * W4. After the object is deleted, no owned object and no record is left.
 */
import { checkpointResource } from "../../adapters/checkpoints/kubernetes.ts";
import { same } from "../../core/json.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { collectionPath, objectPath } from "../../kube/paths.ts";
import { ownedBy } from "../../kube/pods.ts";
import { openSimulator, type Simulator } from "../../simulator/open.ts";
import { tableOf } from "../../simulator/schema/kinds.ts";
import { keyOf } from "../../simulator/storage/store.ts";
import { recordDefinition } from "./record-definition.ts";
import { type Fault, faultsOf, faultText } from "./sweep-fault.ts";
import { openRun, type Run } from "./sweep-run.ts";
import { stored } from "./watching.ts";

export type Life = {
  readonly kind: Operator<unknown>;
  /** Definitions of the kind and of others that its decisions need. */
  readonly crds: readonly unknown[];
  /** The object that a user creates; its deletion ends the life. */
  readonly object: Obj;
  /** The further actions of users and of the cluster, each when the one before has come to rest. */
  readonly actions?: readonly ((simulator: Simulator) => void)[];
  /** Returns what is wrong with the object and the objects that it owns, at rest; undefined: nothing. */
  readonly judge?: (object: Stored, owned: readonly Stored[]) => string | undefined;
};

export type Violation = { readonly case: string; readonly what: string };

export type SweepResult = {
  /** The calls of the life without a fault. */
  readonly calls: number;
  readonly cases: number;
  readonly violations: readonly Violation[];
};

/** The cluster at rest: the status without its times, and the numbers of owned objects by resource. */
type Rest = { readonly status: unknown; readonly owned: Readonly<Record<string, number>> };

/** The outcome of a life. */
type Lived = {
  readonly run: Run;
  readonly rests: readonly Rest[];
  readonly made: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
};

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (_, field) => (typeof field === "string" && instant.test(field) ? "TIME" : field)),
  );

const ownedObjects = ({ store }: Simulator, uid: string): readonly (readonly [table: string, object: Stored])[] =>
  store.tables().flatMap((table) =>
    store
      .list(table)
      .map(stored)
      .filter((object) => ownedBy(object, uid))
      .map((object) => [table, object] as const),
  );

const counted = (names: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(names.toSorted().map((name) => [name, names.filter((one) => one === name).length]));

/** Counts the objects that are created with an owner, by resource. */
const countMade = (simulator: Simulator): ReadonlyMap<string, number> => {
  const made = new Map<string, number>();
  simulator.subscribe(({ type, table, object }) => {
    if (type !== "ADDED" || (stored(object).metadata.ownerReferences ?? []).length === 0) return;
    made.set(table, (made.get(table) ?? 0) + 1);
  });
  return made;
};

const send = (simulator: Simulator, method: "POST" | "DELETE", path: string, body?: unknown): void => {
  const headers = { "content-type": "application/json" };
  const answer = simulator.handle({
    method,
    path,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.body}`);
};

/** Returns the object of the life; an action may not delete it. */
const objectOf = ({ store }: Simulator, { kind, object: { metadata } }: Life): Stored => {
  const place = keyOf(metadata.namespace, metadata.name);
  const found = store.get(tableOf(kind.resource), place);
  if (found === undefined) throw new Error(`no object ${place}: an action may not delete it`);
  return stored(found);
};

/** Judges the cluster at rest. */
const atRest = (simulator: Simulator, life: Life, restless: string | undefined) => {
  const found = objectOf(simulator, life);
  const owned = ownedObjects(simulator, found.metadata.uid);
  const objects = owned.map(([, object]) => object);
  const wrong = life.judge?.(found, objects);
  const problems = [restless, wrong].filter((problem) => problem !== undefined);
  const rest: Rest = { status: withoutTimes(found.status), owned: counted(owned.map(([table]) => table)) };
  return { rest, problems };
};

/** Returns what the object has left behind. */
const leftBy = (simulator: Simulator, uid: string): readonly string[] => [
  ...ownedObjects(simulator, uid).map(
    ([table, { metadata }]) => `${table} ${metadata.name} is left after the deletion`,
  ),
  ...simulator.store
    .list(tableOf(checkpointResource))
    .map(({ metadata }) => `the record ${metadata.name} is left after the deletion`),
];

/** Runs the whole life with at most one fault. */
const lived = async (life: Life, fault?: Fault): Promise<Lived> => {
  const { kind, crds, object, actions = [] } = life;
  const simulator = openSimulator({ crds: [recordDefinition, ...crds] });
  const { name, namespace } = object.metadata;
  const place = { resource: kind.resource, name, ...(namespace === undefined ? {} : { namespace }) };
  const made = countMade(simulator);
  const run = openRun(simulator, kind, fault);
  send(simulator, "POST", collectionPath(kind.resource, namespace), object);
  const { uid } = objectOf(simulator, life).metadata;
  const states = [atRest(simulator, life, await run.rest())];
  for (const act of actions) {
    act(simulator);
    states.push(atRest(simulator, life, await run.rest()));
  }
  send(simulator, "DELETE", objectPath(place));
  const restless = await run.rest();
  const problems = [...states.flatMap((one) => one.problems), ...(restless === undefined ? [] : [restless])];
  return { run, made, rests: states.map(({ rest }) => rest), problems: [...problems, ...leftBy(simulator, uid)] };
};

/** Returns what differs from the life without a fault. */
const differences = (plain: Lived, { rests, made, problems }: Lived): readonly string[] => [
  ...problems,
  ...plain.rests.flatMap((want, at) =>
    same(want, rests[at])
      ? []
      : [`at rest ${at + 1} it has ${JSON.stringify(rests[at])}, and ${JSON.stringify(want)} without a fault`],
  ),
  ...[...made].flatMap(([table, count]) => {
    const most = plain.made.get(table) ?? 0;
    return count <= most ? [] : [`${count} ${table} were created, and ${most} without a fault`];
  }),
];

/** Sweeps the life. A violation without a fault ends the sweep: every case would repeat it. */
export const sweep = async (life: Life): Promise<SweepResult> => {
  const plain = await lived(life);
  const { calls } = plain.run;
  if (plain.problems.length > 0) {
    const violations = plain.problems.map((what) => ({ case: "without a fault", what }));
    return { calls: calls.length, cases: 1, violations };
  }
  const faults = faultsOf(calls, plain.run.messages());
  const violations: Violation[] = [];
  for (const fault of faults)
    for (const what of differences(plain, await lived(life, fault)))
      violations.push({ case: faultText(fault, calls), what });
  return { calls: calls.length, cases: faults.length + 1, violations };
};
