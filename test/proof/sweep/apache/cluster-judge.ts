/**
 * The invariants of a SparkCluster, judged from objects alone.
 *
 * K1. At rest a cluster has exactly the objects that its spec asks for, with the numbers and the image of its spec, and as
 *     many of them as it has owners of its UID; one that is refused, or gone, gets none.
 * K2. Steps write only objects that the cluster owns; of the cluster itself its status alone, and the end of upstream's
 *     finalizer. They delete only an autoscaler or a budget that the spec no longer has.
 * K3. Numbers of states have no gap; a state that was shown stays as it was, but for its message; none follows itself; the
 *     status has at least two states, from Submitted on, unless the platform holds up its objects, as the message then says.
 * K4. A message is one line of at most 1,024 characters.
 * K5. An Event whose reason is a state tells of a state of the history.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, numberAt, ownersOf, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import { isDelivery, isSameButStatus } from "../objects.ts";
import type { Oracle, Subject } from "../oracle.ts";
import { isHeldUp } from "./histories.ts";

type Item = Change["object"];

const clusters = "sparkclusters.spark.apache.org";
const checkpoints = "checkpoints.rekindle.dev";
const kind = "SparkCluster";
const upstreamFinalizer = "sparkclusters.spark.apache.org/finalizer";
const autoscalers = "horizontalpodautoscalers.autoscaling";
const budgets = "poddisruptionbudgets.policy";
const sets = "statefulsets.apps";

const states: ReadonlySet<string> = new Set([
  ...["Submitted", "SchedulingFailure", "RunningHealthy", "Failed", "ResourceReleased"],
]);

type Facts = {
  violations: string[];
  uid: string | undefined;
  gone: boolean;
  /** The spec of the newest version. */
  spec: unknown;
  phase: string;
  /** Each state that was shown: its summary and its time. */
  history: Map<number, string>;
  /** Summaries that a record has held. */
  recorded: Set<string>;
  /** True once a record held an order to end everything. */
  ordered: boolean;
};

const fresh = (): Facts => ({
  ...{ violations: [], uid: undefined, gone: false, spec: undefined, phase: "" },
  ...{ history: new Map(), recorded: new Set(), ordered: false },
});

const workersOf = (spec: unknown, of: "init" | "min" | "max"): number =>
  numberAt(spec, "clusterTolerations", "instanceConfig", `${of}Workers`) ?? 0;

/** The tables and names of the objects that a spec asks for. */
const wantedOf = (spec: unknown, name: string): ReadonlySet<string> =>
  new Set([
    ...[`services/${name}-master-svc`, `services/${name}-worker-svc`],
    ...[`${sets}/${name}-master`, `${sets}/${name}-worker`, `networkpolicies.networking.k8s.io/${name}-worker`],
    ...(workersOf(spec, "min") < workersOf(spec, "max") ? [`${autoscalers}/${name}-worker-hpa`] : []),
    ...(workersOf(spec, "min") > 0 ? [`${budgets}/${name}-worker-pdb`] : []),
  ]);

const labelOf = ({ table, object }: { readonly table: string; readonly object: Item }): string =>
  `${table}/${object.metadata.name}`;

/** Tables of the objects of a cluster; owned objects of others are its updates and its Events. */
const tables: ReadonlySet<string> = new Set([
  ...["services", sets, "networkpolicies.networking.k8s.io", autoscalers, budgets],
]);

const isLetGo = ({ object, before }: Change): boolean => {
  const finalizersOf = ({ metadata }: Item): readonly string[] => metadata.finalizers ?? [];
  const others = finalizersOf(before ?? object).filter((name) => name !== upstreamFinalizer);
  return before?.metadata.deletionTimestamp !== undefined && others.join() === finalizersOf(object).join();
};

const entriesOf = (status: unknown): readonly (readonly [number: number, state: unknown])[] =>
  Object.entries(Object(at(status, "stateTransitionHistory")))
    .map(([number, state]): readonly [number, unknown] => [Number(number), state])
    .sort(([a], [b]) => a - b);

/** K3 and K4, of the state in one place of a status. `last`: the summary of the state before. */
const checkState = (
  facts: Facts,
  [number, state]: readonly [number: number, state: unknown],
  { place, last }: { readonly place: number; readonly last: string },
): readonly string[] => {
  const summary = textAt(state, "currentStateSummary") ?? "";
  const shown = `${summary} at ${textAt(state, "lastTransitionTime")}`;
  const message = textAt(state, "message") ?? "";
  const known = facts.history.get(number) ?? shown;
  const rows: readonly (readonly [wrong: boolean, what: string])[] = [
    [place !== number, `K3: state ${number} stands in place ${place}`],
    [place === 0 && summary !== "Submitted", `K3: it begins with ${summary}`],
    [summary === last, `K3: ${summary} follows itself`],
    [known !== shown, `K3: state ${number} became ${shown}`],
    [message.includes("\n") || message.length > 1_024, `K4: the message of ${summary} is long`],
  ];
  facts.history.set(number, shown);
  return rows.flatMap(([wrong, what]) => (wrong ? [what] : []));
};

/** K3 and K4. */
const hearStatus = (facts: Facts, status: unknown, blame: (what: string) => void): void => {
  const entries = entriesOf(status);
  if (entries.length === 1 && !isHeldUp(entries[0]?.[1])) blame("K3: Submitted is shown alone");
  let last = "";
  for (const [place, entry] of entries.entries()) {
    for (const what of checkState(facts, entry, { place, last })) blame(what);
    last = textAt(entry[1], "currentStateSummary") ?? "";
  }
  if (entries.length > 0 && textAt(status, "currentState", "currentStateSummary") !== last)
    blame("K3: the present state is not the newest one");
};

/** K1, for the two StatefulSets of a cluster at rest. */
const checkSet = ({ spec, metadata }: Item, wanted: unknown, blame: (what: string) => void): void => {
  const isScaled = workersOf(wanted, "min") < workersOf(wanted, "max");
  const replicas = metadata.name.endsWith("-master") ? 1 : workersOf(wanted, "init");
  const found = numberAt(spec, "replicas");
  if (found !== replicas && !(isScaled && metadata.name.endsWith("-worker")))
    blame(`K1: ${metadata.name} has ${found} replicas, and ${replicas} are wanted`);
  const containers = at(spec, "template", "spec", "containers");
  const image = Array.isArray(containers) ? textAt(containers.at(-1), "image") : undefined;
  const stated = textAt(wanted, "sparkConf", "spark.kubernetes.container.image");
  if (image !== stated) blame(`K1: ${metadata.name} runs ${image}, and ${stated} is wanted`);
};

export const openClusterOracle = (subject: Subject, facts: Facts = fresh()): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const isSubject = ({ table, object }: Change): boolean => table === clusters && object.metadata.name === subject.name;
  const isOurs = (object: Item): boolean => facts.uid !== undefined && ownersOf(object).includes(facts.uid);
  const isRecord = ({ table, object }: Change): boolean =>
    table === checkpoints && object.metadata.name === `${kind.toLowerCase()}.${subject.name}`;

  const mayDelete = ({ table, object }: Change): boolean =>
    facts.ordered ||
    facts.gone ||
    ([autoscalers, budgets].includes(table) && !wantedOf(facts.spec, subject.name).has(labelOf({ table, object })));

  const permitted = (change: Change): boolean => {
    const { type, table, object, before } = change;
    if (table === clusters)
      return object.metadata.name === subject.name && type !== "ADDED" && (isSameButStatus(change) || isLetGo(change));
    if (table === checkpoints) return isRecord(change) || isDelivery(object, { ...subject, kind });
    if (table === "events") return textAt(object, "involvedObject", "uid") === facts.uid;
    return tables.has(table) && isOurs(before ?? object) && (type !== "DELETED" || mayDelete(change));
  };

  const hearSubject = ({ type, object }: Change): void => {
    if (facts.uid !== object.metadata.uid) Object.assign(facts, { ...fresh(), violations: facts.violations });
    facts.uid = object.metadata.uid;
    facts.gone = type === "DELETED";
    facts.spec = object["spec"];
    facts.phase = textAt(object, "status", "currentState", "currentStateSummary") ?? "";
    if (!facts.gone) hearStatus(facts, object["status"], blame);
  };

  /** K1. */
  const checkRest = (objects: readonly { readonly table: string; readonly object: Item }[]): void => {
    const own = objects.filter(({ table, object }) => tables.has(table) && isOurs(object));
    const isOver = facts.gone || facts.ordered;
    const wanted = isOver ? new Set<string>() : wantedOf(facts.spec, subject.name);
    const there = new Set(own.map(labelOf));
    for (const label of [...there].filter((one) => !wanted.has(one))) blame(`K1: ${label} is left`);
    for (const label of [...wanted].filter((one) => !there.has(one))) blame(`K1: ${label} is missing`);
    const running = isOver ? [] : own.filter(({ table }) => table === sets);
    for (const { object } of running) checkSet(object, facts.spec, blame);
  };

  /** K5, in the record, which is saved before the Event. */
  const checkTold = (event: Item): void => {
    const reason = textAt(event, "reason") ?? "";
    if (textAt(event, "involvedObject", "uid") !== facts.uid || !states.has(reason)) return;
    if (!facts.recorded.has(reason)) blame(`K5: ${reason} is told, and was no state`);
  };

  const hearRecord = ({ object }: Change): void => {
    if (at(object, "spec", "cleanup") !== undefined) facts.ordered = true;
    for (const [, state] of entriesOf(at(object, "spec", "memory", "status")))
      facts.recorded.add(textAt(state, "currentStateSummary") ?? "");
  };

  return {
    hear: (change, actor) => {
      if (isSubject(change)) hearSubject(change);
      if (isRecord(change)) hearRecord(change);
      if (change.table === "events" && actor === "engine") checkTold(change.object);
      if (actor === "engine" && !permitted(change))
        blame(`K2: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
    },
    permits: permitted,
    said: () => {},
    end: checkRest,
    violations: () => facts.violations,
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openClusterOracle(subject, forked(facts)),
  };
};
