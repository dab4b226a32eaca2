/**
 * `rekindle status`: what an application waits for, since when and until when, why its pods do not start, and what to
 * do. Needs no host.
 */
import { openCluster } from "../adapters/kubernetes/cluster.ts";
import { isPaused } from "../core/annotation.ts";
import { ApiError } from "../core/http.ts";
import { deliveryKey, type Key } from "../core/key.ts";
import { otherManagerOf } from "../core/managed-by.ts";
import { isLabelValue, type Stored } from "../core/object.ts";
import { oneLine } from "../core/text.ts";
import { instantOf, timeText } from "../core/time.ts";
import { platformText } from "../core/waiting-on.ts";
import { type ObjectState, quiet, unseen } from "../kube/object-state.ts";
import { isEnding, mayBelongTo, podStatus } from "../kube/pods.ts";
import { pods as podResource } from "../kube/resources.ts";
import { eventsOf, type Holdup, holdupOf, holdupText, needsEvents, startDueAt } from "../kube/startup.ts";
import type { Session, Source } from "./io/session.ts";
import { type Paint, plain, toneOf, whenText } from "./io/text.ts";
import { departureHelp, departureText } from "./kinds/kind.ts";
import { type KueueView, kueueOf, kueueText } from "./kueue.ts";
import { causeText, lastingAdvice } from "./lasting-waits.ts";
import {
  driverWordsOf,
  driverWordsText,
  executorsText,
  historyOf,
  historyText,
  lossesOf,
  lossesText,
  type RecordRead,
  type RecordView,
  recordOf,
  removalCommand,
  updatesOf,
  updatesText,
} from "./record.ts";
import { absent, isMissing, missing, shortName, type Target } from "./target.ts";
import { quotaOf, quotaText } from "./usage.ts";
import { type WaitingGroup, waitingGroupOf, waitingText } from "./waiting-groups.ts";
import { savesOf, waitedText, waitsOf } from "./waits.ts";

/** The most pods that one command looks at: the first that does not start tells enough. */
const most = 3;

/** The events of a pod; none where the caller has no right to list events. */
const eventsIn = async ({ transport }: Pick<Source, "transport">, pod: Stored): Promise<readonly Stored[]> => {
  try {
    return (await openCluster(transport).list(eventsOf(pod))).value;
  } catch (cause) {
    if (cause instanceof ApiError && (cause.status === 403 || cause.status === 404)) return [];
    throw cause;
  }
};

/** Lists the reasons. One in a pod's status counts at once; events are read after the time that a start takes. */
const holdupsAmong = async (
  source: Pick<Source, "transport">,
  pods: readonly Stored[],
  now: number,
): Promise<readonly Holdup[]> => {
  const held = pods.filter((pod) => {
    const due = startDueAt(pod);
    return due !== undefined && (due <= now || !needsEvents(pod));
  });
  return await Promise.all(
    held.slice(0, most).map(async (pod) => holdupOf(pod, needsEvents(pod) ? await eventsIn(source, pod) : [])),
  );
};

/** The inputs of the status text. */
export type StatusInput = {
  readonly target: Target;
  /** The command that deletes its record. */
  readonly removal: string;
  readonly object: Stored;
  readonly state: ObjectState;
  readonly found: RecordRead;
  /** The record of its delivery; read only where its status updates have a listener. */
  readonly delivery?: RecordView | undefined;
  readonly pods: readonly Stored[];
  /** Reasons why its pods do not start. */
  readonly holdups: readonly Holdup[];
  /** Its group that waits to be admitted. */
  readonly group?: WaitingGroup | undefined;
  /** The word of Kueue about an object with its queue label. */
  readonly kueue?: KueueView | undefined;
  /** Signs of another controller of its kind; read only where no host seems to look after it. */
  readonly controllers?: readonly string[];
  /** Confs and fields of the object that its run does not get. */
  readonly notes?: readonly string[];
  readonly now: number;
};

type StatusRow = {
  readonly waitsFor: string;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly todo: string;
};

/** Delay of a timer, ms, after which the status asks whether a host is running. */
const lateMs = 600_000;

const nameOf = ({ target }: StatusInput): string => shortName(target.key);
const recordIn = ({ found }: StatusInput): RecordView | undefined => (found.is === "record" ? found.record : undefined);

const logCommand = ({ target, object, pods }: StatusInput): string => {
  const pod = target.kind.mainPod(object, pods);
  return pod === undefined || pods.every(({ metadata }) => metadata.name !== pod)
    ? ""
    : `; its log: kubectl logs -n ${target.key.namespace} ${pod}`;
};

/** The instant since which it waits: the begin of the open wait in its record, else the last change of the object. */
const waitsSince = (seen: StatusInput): number | undefined => {
  const open = waitsOf(recordIn(seen)).findLast(({ to }) => to === undefined);
  return instantOf(open?.from) ?? seen.state.since;
};

type Row = (seen: StatusInput) => StatusRow | undefined;

const troubled: Row = (seen) => {
  const trouble = recordIn(seen)?.trouble;
  if (trouble === undefined) return undefined;
  return {
    waitsFor: platformText(trouble),
    since: trouble.since,
    until: recordIn(seen)?.wakeAt,
    todo:
      lastingAdvice(trouble.message) ??
      "remove what is in the way; Rekindle keeps trying, and this costs the application no retry",
  };
};

/** An application whose record cannot be used waits for its repair. */
export const repairText = (error: string): string =>
  `its checkpoint to be repaired (RecoveryFailed); until then Rekindle writes nothing for it: ${error}`;

/** The command that keeps the readable part of a record. */
export const repairCommand = ({ kind, namespace, name }: Pick<Key, "kind" | "namespace" | "name">): string =>
  `rekindle recover ${kind.toLowerCase()}/${namespace}/${name} --no-strict`;

const unreadable: Row = (seen) => {
  if (seen.found.is !== "unreadable") return undefined;
  const todo = `keep the readable part: ${repairCommand(seen.target.key)}; or rebuild it from the application: ${seen.removal}`;
  return { waitsFor: repairText(seen.found.error), todo };
};

const paused: Row = (seen) => {
  if (!isPaused(seen.object)) return undefined;
  return { waitsFor: "a user to resume it (it is paused)", todo: `rekindle resume ${nameOf(seen)}` };
};

const managed: Row = ({ object, target }) => {
  const manager = otherManagerOf(object, target.kind.resource);
  if (manager === undefined) return undefined;
  return {
    waitsFor: `${manager}, which spec.managedBy names: Rekindle touches nothing of it`,
    todo: "see what that controller says; the field cannot be changed, so create the object without it to run it here",
  };
};

const leaving: Row = ({ target, object, pods }) => {
  const { deletionTimestamp } = object.metadata;
  if (deletionTimestamp === undefined) return undefined;
  return {
    waitsFor: departureText(object, pods),
    since: Date.parse(deletionTimestamp),
    todo: departureHelp(object, target.kind.resource, pods),
  };
};

const ended: Row = (seen) => {
  const { state } = seen;
  if (state.ended === undefined) return undefined;
  const message = state.message === undefined ? "" : `: ${state.message}`;
  return {
    waitsFor: `${state.what.waitsFor}${message}`,
    since: state.since,
    todo: `${(state.ended === "badly" ? lastingAdvice(message) : undefined) ?? state.what.todo}${logCommand(seen)}`,
  };
};

const stuck: Row = (seen) => {
  const holdup = seen.holdups.find(({ isWrong }) => isWrong) ?? seen.holdups[0];
  if (holdup === undefined) return undefined;
  return {
    waitsFor: `pod ${holdup.pod}: ${holdupText(holdup)}`,
    since: waitsSince(seen),
    until: recordIn(seen)?.wakeAt,
    todo: `${holdup.help}; more: kubectl describe pod -n ${seen.target.key.namespace} ${holdup.pod}`,
  };
};

const queued: Row = (seen) => {
  const { group, state } = seen;
  if (group === undefined) return undefined;
  return {
    waitsFor: waitingText(group),
    since: waitsSince(seen),
    until: recordIn(seen)?.wakeAt,
    todo: lastingAdvice(group.why) ?? state.what.todo,
  };
};

/** True of a record whose timer should have gone off long ago. */
const isOverdue = (found: RecordRead, now: number): boolean =>
  found.is === "record" && found.record.wakeAt !== undefined && now - found.record.wakeAt >= lateMs;

const standby: Row = (seen) => {
  const { controllers = [], state } = seen;
  if (controllers.length === 0) return undefined;
  return {
    waitsFor: recordIn(seen)?.waitsFor ?? state.what.waitsFor,
    ...{ since: waitsSince(seen), until: recordIn(seen)?.wakeAt },
    todo: `standby: ${controllers.join("; ")}; Rekindle writes nothing beside it. Take its work over with rekindle migrate; set coexist if it looks after other namespaces only; if it is none, remove it`,
  };
};

const overdue: Row = (seen) => {
  const record = recordIn(seen);
  if (record === undefined || !isOverdue(seen.found, seen.now)) return undefined;
  return {
    waitsFor: record.waitsFor ?? seen.state.what.waitsFor,
    since: waitsSince(seen),
    until: record.wakeAt,
    todo: "it is overdue: is a host running? kubectl get deployments -A -l app.kubernetes.io/name=rekindle",
  };
};

const unrecorded: Row = (seen) => {
  const { found, state } = seen;
  if (found.is !== "none" || state.state === "NEW") return undefined;
  const todo = `Rekindle keeps no record of it (${found.why}): another controller runs it, or no host is running: rekindle host`;
  return { waitsFor: state.what.waitsFor, since: state.since, todo };
};

const underway: Row = (seen) => {
  const { state } = seen;
  const record = recordIn(seen);
  const waitsFor = record?.waitsFor ?? state.what.waitsFor;
  // A record that waits shows that a host has looked at the object, whatever its status shows yet.
  const isSeen = state.what.waitsFor === unseen.waitsFor && record?.waitsFor !== undefined;
  const cause = causeText(waitsFor, state.message);
  return {
    waitsFor: cause,
    since: waitsSince(seen),
    until: record?.wakeAt,
    todo: lastingAdvice(cause) ?? (isSeen ? quiet : state.what.todo),
  };
};

/** In order of precedence: the first row that returns a text is shown. */
const rows: readonly Row[] = [
  unreadable,
  leaving,
  managed,
  paused,
  troubled,
  ended,
  stuck,
  queued,
  standby,
  overdue,
  unrecorded,
  underway,
];

/** Executors that run, and those that were lost; undefined for an object that has none and lost none. */
const executorsIn = (seen: StatusInput) => {
  const losses = lossesOf(recordIn(seen));
  const count = isEnding(seen.object) ? undefined : seen.target.kind.executors?.(seen.object, seen.pods);
  return losses === undefined && count === undefined ? undefined : { ...count, lost: {}, losses: [], ...losses };
};

/** The status as data: instants as the API writes them. */
export const statusView = (seen: StatusInput) => {
  const row = rows.map((row) => row(seen)).find((found) => found !== undefined);
  const { waitsFor = "", since, until, todo = "" } = row ?? {};
  const { kind, namespace, name } = seen.target.key;
  return {
    ...{ kind, namespace, name, state: seen.state.state, attempts: seen.state.attempts },
    message: seen.state.message,
    ended: seen.state.ended,
    waitsFor: oneLine(waitsFor),
    since: since === undefined ? undefined : timeText(since),
    until: until === undefined ? undefined : timeText(until),
    do: oneLine(todo),
    details: seen.target.kind.wide(seen.object),
    group: seen.group && {
      ...{ name: seen.group.group.metadata.name, queue: seen.group.queue },
      ...{ position: seen.group.position, of: seen.group.of, why: seen.group.why },
    },
    kueue: seen.kueue,
    quota: quotaOf(recordIn(seen), seen.now),
    history: historyOf(recordIn(seen)),
    waits: waitsOf(recordIn(seen)),
    saves: savesOf(recordIn(seen)),
    runs: recordIn(seen)?.runs ?? [],
    executors: executorsIn(seen),
    driver: driverWordsOf(recordIn(seen)),
    updates: updatesOf(recordIn(seen), seen.delivery),
    notes: seen.notes ?? [],
    pods: seen.pods.map((pod) => ({ name: pod.metadata.name, phase: podStatus(pod).phase ?? "Unknown" })),
  };
};

/** The four lines of every status, after those about history, attempts, losses, updates and Kueue where these are known. */
export const statusText = (seen: StatusInput, paint: Paint = plain): string => {
  const view = statusView(seen);
  const { state, waitsFor, since, until, executors, driver, kueue } = view;
  const from = since === undefined ? "unknown" : whenText(Date.parse(since), seen.now);
  const to = until === undefined ? "" : `, until ${whenText(Date.parse(until), seen.now)}`;
  const lines = [
    `state      ${paint(toneOf(state), state)}`,
    `waits for  ${waitsFor}`,
    `since      ${from}${to}`,
    `do         ${view.do}`,
  ];
  const before = [
    ["went       ", historyText(view.history)],
    ["waited     ", oneLine(waitedText(view.waits))],
    ["attempts   ", view.runs.map(({ attempt, outcome }) => `${attempt} ${outcome}`).join(", ")],
    ["executors  ", executors === undefined ? "" : executorsText(executors)],
    ["lost       ", executors === undefined ? "" : lossesText(executors)],
    ["driver     ", driver === undefined ? "" : driverWordsText(driver)],
    ["updates    ", updatesText(view.updates, seen.now)],
    ["Kueue      ", kueue === undefined ? "" : kueueText(kueue, (at) => whenText(at, seen.now))],
    ["quota      ", quotaText(view.quota)],
    ...view.notes.map((note) => ["note       ", oneLine(note)]),
  ].flatMap(([head, text]) => (text === "" ? [] : [`${head}${text}`]));
  return [...before, ...lines].join("\n");
};

const deliveryOf = async (source: Source, { key }: Target, found: RecordRead): Promise<RecordView | undefined> => {
  if (found.is !== "record" || found.record.outbox === undefined) return undefined;
  const delivery = await recordOf(source, deliveryKey(key));
  return delivery.is === "record" ? delivery.record : undefined;
};

/** Reads the signs of other controllers where no host seems to look after the object. */
const controllersBeside = async (
  { controllers }: Source,
  { resource }: Target["kind"],
  found: RecordRead,
  now: number,
): Promise<readonly string[]> =>
  found.is === "none" || isOverdue(found, now) ? ((await controllers?.(resource.group)) ?? []) : [];

/** Reads the object, its checkpoint and its pods. */
export const look = async (source: Source, target: Target, now: number): Promise<StatusInput> => {
  const { kind, key } = target;
  const { namespace, name } = key;
  const cluster = openCluster(source.transport);
  const { value: object, date } = await cluster.get({ resource: kind.resource, namespace, name });
  if (object === undefined) throw absent(key, [kind]);
  const labels = kind.podLabels(name);
  const query = { do: "list", resource: podResource, namespace, labels } as const;
  const [found, pods] = await Promise.all([
    recordOf(source, key),
    Object.values(labels).every(isLabelValue) ? cluster.list(query) : { value: [] },
  ]);
  const own = pods.value.filter((pod) => mayBelongTo(pod, kind.resource, object.metadata.uid));
  const at = Number.isNaN(date) ? now : date;
  const waits = kind.awaitsGroup?.(object) === true && own.length === 0;
  return {
    target,
    removal: removalCommand(source, key),
    object,
    state: kind.stateOf(object),
    found,
    delivery: await deliveryOf(source, target, found),
    pods: own,
    holdups: await holdupsAmong(source, own, at),
    group: waits ? await waitingGroupOf(source.transport, object) : undefined,
    kueue: await kueueOf(source.transport, kind, object),
    controllers: await controllersBeside(source, kind, found, at),
    now: at,
  };
};

/** As `look`; the error for a missing object names similar ones. */
export const lookHinting = async (session: Session, target: Target, now: number): Promise<StatusInput> => {
  try {
    return await look(session, target, now);
  } catch (cause) {
    throw isMissing(cause) ? await missing(session, target.key, [target.kind]) : cause;
  }
};
