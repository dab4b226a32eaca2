/** DELETE: preconditions, grace, finalizers; and the changes that the cluster's own controllers make. */

import { crdTable, type Kind, kindOfTable } from "../schema/kinds.ts";
import { stamp, type Task } from "../storage/clock.ts";
import { fieldsAt, isFields, itemsAt, numberAt, same, textAt } from "../storage/json.ts";
import { type Item, type ItemMeta, metaOf } from "../storage/metadata.ts";
import { badOptions, conflict, Refusal } from "../storage/refusal.ts";
import { type Change, keyOf } from "../storage/store.ts";
import { type Server, timeOf } from "./request.ts";

export type RemoveOptions = {
  readonly dryRun: boolean;
  /** Called with a pod that has no grace left, before it is removed. */
  readonly marked?: (item: Item) => void;
  readonly graceSeconds: number | undefined;
  readonly propagation: string | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
};

const policies = new Set(["Foreground", "Background", "Orphan"]);

const whole = (text: string | null): number | undefined => (text === null || text === "" ? undefined : Number(text));

/** The options of a DELETE: from its body, else from its query. */
export const removeOptions = (body: unknown, query: URLSearchParams): RemoveOptions => {
  const propagation = textAt(body, "propagationPolicy") ?? query.get("propagationPolicy") ?? undefined;
  if (propagation !== undefined && !policies.has(propagation))
    throw badOptions("DeleteOptions", "propagationPolicy", {
      reason: "FieldValueNotSupported",
      message: `Unsupported value: "${propagation}": supported values: "Foreground", "Background", "Orphan", "nil"`,
    });
  const preconditions = fieldsAt(body, "preconditions");
  const inBody = isFields(body) && Array.isArray(body["dryRun"]) && body["dryRun"].length > 0;
  const orphans = isFields(body) ? body["orphanDependents"] : undefined;
  return {
    dryRun: inBody || query.get("dryRun") === "All",
    graceSeconds: numberAt(body, "gracePeriodSeconds") ?? whole(query.get("gracePeriodSeconds")),
    propagation: propagation ?? (orphans === true ? "Orphan" : undefined),
    uid: textAt(preconditions, "uid"),
    resourceVersion: textAt(preconditions, "resourceVersion"),
  };
};

const checkFence = (kind: Kind, item: Item, { uid, resourceVersion }: RemoveOptions): void => {
  const { metadata } = item;
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(
      kind,
      metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
      kind.kind,
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict(
      kind,
      metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
      kind.kind,
    );
};

/** Grace of a pod, seconds; 0 for every other kind. */
const graceOf = (kind: Kind, item: Item, seconds: number | undefined): number => {
  if (kind.table !== "pods") return 0;
  const phase = textAt(item, "status", "phase");
  const bound = (textAt(item, "spec", "nodeName") ?? "") !== "";
  if (!bound || phase === "Succeeded" || phase === "Failed") return 0;
  const grace = seconds ?? numberAt(item, "spec", "terminationGracePeriodSeconds") ?? 30;
  return grace < 0 ? 1 : grace;
};

/** The grace of a deletion as webhooks are told it: that of pods in effect, seconds. */
export const toldGrace = (kind: Kind, item: Item, { graceSeconds }: RemoveOptions): number | undefined =>
  kind.table === "pods" ? graceOf(kind, item, graceSeconds) : graceSeconds;

/** True if a deletion is under way that this one does not bring forward: no webhook is told. As registry rest/delete.go. */
export const isUnderWay = (kind: Kind, { metadata }: Item, { graceSeconds }: RemoveOptions): boolean =>
  !isContainer(kind) &&
  metadata.deletionTimestamp !== undefined &&
  (graceSeconds === undefined || graceSeconds >= (metadata.deletionGracePeriodSeconds ?? 0));

const collectorFinalizers: Readonly<Record<string, string>> = { Orphan: "orphan", Foreground: "foregroundDeletion" };
const isCollectors = (finalizer: string): boolean => Object.values(collectorFinalizers).includes(finalizer);

/** The finalizer of a CRD that waits for its objects. */
const cleanup = "customresourcecleanup.apiextensions.k8s.io";

const ownFinalizers = ({ store }: Server, kind: Kind, { metadata }: Item): readonly string[] => {
  const own = metadata.finalizers ?? [];
  const defines = kind.table === crdTable && store.list(metadata.name).length > 0;
  return defines && !own.includes(cleanup) ? [...own, cleanup] : own;
};

const finalizersFor = (own: readonly string[], propagation: string | undefined): readonly string[] => {
  if (propagation === undefined) return own;
  const wanted = collectorFinalizers[propagation];
  const kept = own.filter((each) => !isCollectors(each) || each === wanted);
  return wanted === undefined || kept.includes(wanted) ? kept : [...kept, wanted];
};

type Ending = { readonly grace: number; readonly finalizers: readonly string[] };

/** A second deletion can only shorten the first one's grace; one without grace takes effect at its own time. */
const deadline = (server: Server, { metadata }: Item, grace: number): { at: string; grace: number } => {
  const began = metadata.deletionTimestamp;
  const before = metadata.deletionGracePeriodSeconds ?? 0;
  if (began === undefined) return { at: stamp(server.clock.now() + grace * 1000), grace };
  if (grace >= before) return { at: began, grace: before };
  if (grace === 0) return { at: stamp(server.clock.now()), grace };
  return { at: stamp(Date.parse(began) - (before - grace) * 1000), grace };
};

/** Namespaces and CRDs have a deletion of their own. */
const isContainer = ({ table }: Kind): boolean => table === "namespaces" || table === crdTable;

const marked = (server: Server, kind: Kind, item: Item, { grace, finalizers }: Ending): Item => {
  const { metadata } = item;
  const { generation, uid, resourceVersion } = metadata;
  const first = metadata.deletionTimestamp === undefined;
  const until = deadline(server, item, grace);
  const meta = metaOf({
    ...metadata,
    deletionTimestamp: until.at,
    deletionGracePeriodSeconds: isContainer(kind) ? undefined : until.grace,
    generation: first && generation !== undefined && !isContainer(kind) ? generation + 1 : generation,
    finalizers: finalizers.length > 0 ? finalizers : undefined,
  });
  return { ...item, metadata: { ...meta, uid, resourceVersion } };
};

const sameMark = (a: ItemMeta, b: ItemMeta): boolean =>
  a.deletionTimestamp === b.deletionTimestamp &&
  a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds &&
  a.finalizers?.join() === b.finalizers?.join();

type Removed = { readonly item: Item; readonly gone: boolean };

/** The status of a namespace or CRD while its content is deleted. */
const terminating = (kind: Kind, item: Item, time: string): Item => {
  const status = fieldsAt(item, "status");
  if (kind.table === "namespaces") return { ...item, status: { ...status, phase: "Terminating" } };
  const condition = {
    type: "Terminating",
    status: "True",
    lastTransitionTime: time,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  return { ...item, status: { ...status, conditions: [...itemsAt(status, "conditions"), condition] } };
};

const waits = (kind: Kind, { grace, finalizers }: Ending): boolean =>
  grace > 0 || finalizers.length > 0 || kind.table === "namespaces";

type Going = { readonly item: Item; readonly ending: Ending; readonly options: RemoveOptions };

/** Removes the object. A pod is first stored with no grace left, which watches see. As registry store.go. */
const gone = (server: Server, kind: Kind, { item, ending, options: { dryRun, marked: tell } }: Going): Removed => {
  const last = kind.table === "pods" ? marked(server, kind, item, ending) : item;
  if (dryRun) return { item: last, gone: true };
  if (last !== item && !sameMark(item.metadata, last.metadata)) server.store.put(kind.table, last);
  if (kind.table === "pods") tell?.(server.store.get(kind.table, keyOfItem(item)) ?? last);
  server.store.remove(kind.table, keyOfItem(item));
  return { item: last, gone: true };
};

/** Deletes the object or begins its deletion; throws the refusal. */
export const removeItem = (server: Server, kind: Kind, item: Item, options: RemoveOptions): Removed => {
  checkFence(kind, item, options);
  const began = item.metadata.deletionTimestamp !== undefined;
  const running = began && options.graceSeconds === undefined ? item.metadata.deletionGracePeriodSeconds : undefined;
  const ending: Ending = {
    grace: running ?? graceOf(kind, item, options.graceSeconds),
    finalizers: finalizersFor(ownFinalizers(server, kind, item), options.propagation),
  };
  if (!waits(kind, ending)) return gone(server, kind, { item, ending, options });
  const after =
    isContainer(kind) && item.metadata.deletionTimestamp === undefined
      ? terminating(kind, marked(server, kind, item, ending), timeOf(server))
      : marked(server, kind, item, ending);
  if (options.dryRun || sameMark(item.metadata, after.metadata)) return { item: after, gone: false };
  return { item: server.store.put(kind.table, after), gone: false };
};

/** The parts around the API server (collector, scheduler, kubelets, Spark): each hears changes and does tasks. */
export type Part = {
  readonly onChange: (change: Change) => void;
  readonly tasks: Readonly<Record<string, (task: Task) => void>>;
};

export const keyOfItem = ({ metadata }: Item): string => keyOf(metadata.namespace, metadata.name);

/** The object of a task; undefined when it is gone, or another object has its name. */
export const subject = ({ store }: Server, task: Task, table = textAt(task, "table") ?? "pods"): Item | undefined => {
  const item = store.get(table, textAt(task, "key") ?? "");
  return item?.metadata.uid === textAt(task, "uid") ? item : undefined;
};

/** A task about an object. */
export const about = (name: string, item: Item, more: Readonly<Record<string, unknown>> = {}): Task => ({
  do: name,
  key: keyOfItem(item),
  uid: item.metadata.uid,
  ...more,
});

export const runAfter = ({ clock }: Server, delayMs: number, task: Task): void => clock.at(clock.now() + delayMs, task);

/** Stores an object that a part changed, unless nothing changed. */
export const rewrite = ({ store }: Server, table: string, before: Item, after: Item): Item =>
  same(before, after) ? before : store.put(table, after);

const plainly: RemoveOptions = {
  dryRun: false,
  graceSeconds: undefined,
  propagation: undefined,
  uid: undefined,
  resourceVersion: undefined,
};

/** Deletes an object for a part, as a client would; ignores a refusal. */
export const discard = (server: Server, table: string, item: Item, options: Partial<RemoveOptions> = {}): void => {
  const kind = kindOfTable(server.store, table);
  if (kind === undefined) return;
  try {
    removeItem(server, kind, item, { ...plainly, uid: item.metadata.uid, ...options });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
};
