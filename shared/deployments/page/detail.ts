/**
 * One application as the page shows it: what `rekindle status` says, its pods over time, its events, spec and record;
 * the pods of a Job as cells of its gang, the jobs of a JobFlow as nodes of its graph. Read once for all viewers:
 * requests in flight and answers of an unchanged application are shared.
 */

import { setTimeout } from "node:timers/promises";
import { forgetOldest } from "../../core/cache.ts";
import { ApiError } from "../../core/http.ts";
import { isTooMuch } from "../../core/json.ts";
import { keyKindOf, type Stored } from "../../core/object.ts";
import { bytesOf } from "../../core/share.ts";
import { counted, oneLine } from "../../core/text.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { asYaml } from "../../inspection/io/documents.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import type { Source } from "../../inspection/io/session.ts";
import { kindNamed } from "../../inspection/kinds/all.ts";
import { kueueText } from "../../inspection/kueue.ts";
import { type EventEntry, eventsAbout } from "../../inspection/log.ts";
import type { Rates } from "../../inspection/rates.ts";
import { driverWordsText, lostCount, type RecordView } from "../../inspection/record.ts";
import { look, type StatusInput, statusView } from "../../inspection/status.ts";
import { indexOf, taskOf } from "../../inspection/target.ts";
import { accountsOf, quotaByRun } from "../../inspection/usage.ts";
import { labelOf, podStatus } from "../../kube/pods.ts";
import { masked } from "../../kube/secret-mask.ts";
import { holdupText } from "../../kube/startup.ts";
import { withRecorded } from "../../page/timeline.ts";
import {
  type Cell,
  type Detail,
  type FlowNode,
  type Gang,
  type Group,
  keyOf,
  type Lane,
  type Row,
} from "../../page/wire.ts";
import { defaultOptions } from "../../spark/auxiliary-objects/options.ts";
import { specOf, statusOf } from "../../volcano/job/view.ts";
import { type Flow, flowSpecSchema, flowStatusSchema } from "../../volcano/schema/workflows.ts";
import { actionsOn } from "./actions.ts";
import type { Board } from "./board.ts";
import { changesIn } from "./changes.ts";
import { type KeptLogs, openKeptLogs } from "./kept-logs.ts";
import { openLanes, type RecordedEnds, recordedEnds, recordedLanes, withLosses } from "./lanes.ts";
import { groupIn, groupOf } from "./projection.ts";

/** The most cells, and the most nodes, of one object. */
const mostMembers = 1_000;
const longestName = 400;

const groupsOfPods: Readonly<Record<string, Group>> = {
  Running: "running",
  Succeeded: "completed",
  Failed: "failed",
};

const cellOf = (pod: Stored, index: number, why: string): Cell => ({
  index,
  group:
    pod.metadata.deletionTimestamp === undefined ? (groupsOfPods[podStatus(pod).phase ?? ""] ?? "waiting") : "held",
  pod: pod.metadata.name,
  why: oneLine(why).slice(0, longestName),
});

const absent = (index: number): Cell => ({ index, group: "absent", pod: "", why: "" });

/** The gang of a Job; undefined for any other kind. */
export const gangOf = ({ target, object, pods, holdups }: StatusInput): Gang | undefined => {
  if (target.kind.resource.kind !== "Job") return undefined;
  const { minAvailable, maxRetry, queue = "default", tasks } = specOf(object);
  const { retryCount = 0 } = statusOf(object);
  const reasons = new Map(holdups.map((holdup) => [holdup.pod, holdupText(holdup)]));
  // Of several pods of one place the newest is the last.
  const places = new Map(pods.map((pod) => [`${taskOf(pod)} ${indexOf(pod)}`, pod]));
  let room = mostMembers;
  let wanted = 0;
  const shown = tasks.map(({ name = "", replicas = 1 }) => {
    wanted += replicas;
    const cells = Array.from({ length: Math.min(replicas, room) }, (_, index): Cell => {
      const pod = places.get(`${name} ${index}`);
      return pod === undefined ? absent(index) : cellOf(pod, index, reasons.get(pod.metadata.name) ?? "");
    });
    room -= cells.length;
    return { task: name, cells };
  });
  const phases = pods.map((pod) => podStatus(pod).phase);
  return {
    queue,
    least: minAvailable ?? wanted,
    have: phases.filter((phase) => phase === "Running" || phase === "Succeeded").length,
    retries: retryCount,
    mostRetries: maxRetry ?? 3,
    tasks: shown,
    more: Math.max(0, wanted - mostMembers),
  };
};

const probeText = ({ dependsOn }: Flow): string => {
  const { httpGetList = [], tcpSocketList = [], taskStatusList = [] } = dependsOn?.probe ?? {};
  return [
    ...httpGetList.map(({ port = "", path = "" }) => `probe :${port}${path}`),
    ...tcpSocketList.map(({ port = "" }) => `probe :${port}`),
    ...taskStatusList.map(({ taskName = "its tasks", phase = "" }) => `${taskName} ${phase}`),
  ].join(", ");
};

/** The jobs of a JobFlow; undefined for any other kind, and for a spec that cannot be read. */
export const flowOf = ({ target, object }: StatusInput): readonly FlowNode[] | undefined => {
  if (target.kind.resource.kind !== "JobFlow") return undefined;
  const { namespace, name: flow } = target.key;
  const flows = flowSpecSchema.safeParse(object.spec).data?.flows ?? [];
  const jobs = flowStatusSchema.safeParse(object.status).data?.jobStatusList ?? [];
  const states = new Map(jobs.map(({ name = "", state = "" }) => [name, state]));
  const stateOf = (name: string): string => states.get(`${flow}-${name}`) ?? "";
  return flows.slice(0, mostMembers).map((one): FlowNode => {
    const dependsOn = one.dependsOn?.targets ?? [];
    const state = stateOf(one.name);
    const open = state === "" ? dependsOn.filter((name) => stateOf(name) !== "Completed") : [];
    const probe = open.length === 0 ? "" : probeText(one);
    return {
      ...{ name: one.name, job: `Job/${namespace}/${flow}-${one.name}`, state, dependsOn },
      group: state === "" ? "waiting" : groupOf(state),
      waits: `${open.join(", ")}${probe === "" ? "" : `: ${probe}`}`.slice(0, longestName),
    };
  });
};

export type ObjectName = Pick<Row, "kind" | "namespace" | "name">;

/** An answer is read again after this time, ms, also without a change: times until something happens pass. */
const usualFreshMs = 5_000;
/** The shortest time between two reads of one application, ms, however often it changes. */
const calmMs = 400;
const mostAnswers = 200;
const longestText = 200_000;

type Answer = {
  readonly at: number;
  /** The count of changes that the read has seen; undefined: it has not begun. */
  readonly changes: number | undefined;
  readonly detail: Promise<Detail | undefined>;
};

/** The most memory of a value that is shown, bytes: writing the YAML of a larger one would take the process too long. */
const mostShown = 500_000;

const short = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText)}\n… cut off`;

/** The YAML of a value that tenants write, without secrets. */
const shown = (value: unknown): string =>
  isTooMuch(value) || bytesOf(value, mostShown) >= mostShown
    ? "too large to be shown here: kubectl get -o yaml shows it"
    : short(asYaml(masked(value)));

type EventsRead = { readonly events: readonly EventEntry[]; readonly error: string };

/** The most pods whose events are read beside those of the application: the main ones. */
const mostTalkers = 3;

/** The application, and its newest pods that are no executors: an executor's end is in its record. */
const subjectsOf = ({ target, object, pods }: StatusInput) => [
  { kind: target.kind.resource.kind, name: target.key.name, uid: object.metadata.uid },
  ...pods
    .filter((pod) => labelOf(pod, "spark-exec-id") === undefined)
    .slice(-mostTalkers)
    .map(({ metadata }) => ({ kind: "Pod", name: metadata.name })),
];

/** Reads the events; a caller without the right gets the reason instead. */
const readEvents = async (source: Source, seen: StatusInput): Promise<EventsRead> => {
  const { namespace } = seen.target.key;
  try {
    const found = await Promise.all(subjectsOf(seen).map((subject) => eventsAbout(source, namespace, subject)));
    return { events: found.flat().toSorted((a, b) => a.at - b.at), error: "" };
  } catch (cause) {
    if (cause instanceof ApiError) return { events: [], error: cause.message };
    throw cause;
  }
};

/** The lanes of the pods that exist, for a process that has not watched them. */
const presentLanes = ({ target, pods }: StatusInput, ends: RecordedEnds) => {
  const lanes = openLanes();
  const { kind, namespace, name } = target.key;
  const key = `${kind}/${namespace}/${name}`;
  for (const pod of pods) lanes.see(pod);
  lanes.recorded(key, ends);
  return lanes.of(key);
};

const instants = ({ since, until }: { readonly since: string | undefined; readonly until: string | undefined }) => ({
  since: since === undefined ? undefined : Date.parse(since),
  until: until === undefined ? undefined : Date.parse(until),
});

const updatesIn = ({ updates }: ReturnType<typeof statusView>): Detail["updates"] =>
  updates === undefined
    ? undefined
    : {
        waiting: updates.waiting,
        since: Date.parse(updates.since),
        tries: updates.tries,
        error: updates.error ?? "",
        next: updates.next === undefined ? undefined : Date.parse(updates.next),
      };

const recordText = ({ found }: StatusInput): string => {
  if (found.is === "record") return shown(found.record);
  return found.is === "none" ? `no record: ${found.why}` : `the record cannot be read: ${found.error}`;
};

const timesOf = (view: ReturnType<typeof statusView>, { found }: StatusInput) => ({
  history: view.history.map(({ state, attempt, at }) => ({
    state,
    attempt,
    at: Date.parse(at),
    group: groupOf(state),
  })),
  runs: view.runs.map(({ attempt, outcome, endedAt, error = "" }) => ({ attempt, outcome, at: endedAt, error })),
  waits: view.waits.map(({ for: reason, from, to, isUsual }) => ({
    ...{ for: oneLine(reason), from: Date.parse(from), isUsual },
    ...(to === undefined ? {} : { to: Date.parse(to) }),
  })),
  savedAt: view.saves.map((at) => Date.parse(at)),
  saves: found.is === "record" ? found.record.saves : undefined,
});

const membersOf = (seen: StatusInput): Pick<Detail, "gang" | "flow" | "hasPods" | "hasExecutors"> => {
  const [gang, flow] = [gangOf(seen), flowOf(seen)];
  const { podCount, executors } = seen.target.kind;
  const has = { hasPods: podCount !== undefined, hasExecutors: executors !== undefined };
  return { ...has, ...(gang === undefined ? {} : { gang }), ...(flow === undefined ? {} : { flow }) };
};

/** The prices on the nodes of these lanes. */
const pricesFor = (lanes: readonly Lane[], rates: Rates | undefined): Pick<Detail, "prices"> => {
  if (rates === undefined) return {};
  const { currency, usual, isByNode } = rates;
  const pair = ({ core, gib }: Rates["usual"]) => [core, gib] as const;
  const names = new Set(lanes.flatMap(({ node }) => node ?? []));
  const nodes = [...(isByNode ? names : [])].flatMap((name) => {
    const rate = rates.on(name);
    return rate === undefined ? [] : [[name, pair(rate)] as const];
  });
  return { prices: { currency, usual: pair(usual), isByNode, nodes: Object.fromEntries(nodes) } };
};

/** The Workloads of Kueue that grant executors; {} where they are not known. */
const grantsOf = ({ kueue }: ReturnType<typeof statusView>): Pick<Detail, "grants"> => {
  const { workload, base, growths } = kueue ?? {};
  if (workload === undefined || base === undefined || growths === undefined) return {};
  const granted = growths
    .filter(({ state }) => state === "granted")
    .toSorted((a, b) => (a.askedAt ?? "").localeCompare(b.askedAt ?? "") || a.workload.localeCompare(b.workload))
    .map(({ workload: name, executors, flavors }) => ({
      ...{ workload: name, executors, isBase: false },
      flavors: flavors === base.flavors ? "" : flavors,
    }));
  return { grants: [{ workload, executors: base.executors, flavors: "", isBase: true }, ...granted] };
};

const quotaOf = (record: RecordView | undefined, now: number): Pick<Detail, "quota"> => {
  const quota = quotaByRun(record, now).map(({ attempt, granted, waited }) => ({ attempt, granted, waited }));
  return quota.length === 0 ? {} : { quota };
};

/** The parts of an answer that other requests have brought. */
type Beside = Pick<Detail, "keptLogs"> & Pick<Reading, "board" | "rates"> & { readonly talk: EventsRead };

const detailOf = (seen: StatusInput, { talk: { events, error }, board, rates, keptLogs }: Beside): Detail => {
  const view = statusView(seen);
  const key = keyOf(view);
  const record = seen.found.is === "record" ? seen.found.record : undefined;
  const ends = recordedEnds(record);
  const seenLanes = board.lanes(key);
  const known = seenLanes.length === 0 ? presentLanes(seen, ends) : seenLanes;
  const times = timesOf(view, seen);
  const lanes = withLosses(withRecorded(known, recordedLanes(accountsOf(record))), ends);
  return {
    ...{ kind: view.kind, namespace: view.namespace, name: view.name, now: seen.now, state: view.state },
    ...{ uid: seen.object.metadata.uid, version: seen.object.metadata.resourceVersion },
    actions: actionsOn(seen.target, seen.object),
    group: groupIn(seen.object, record),
    attempts: view.attempts ?? 0,
    message: view.message ?? "",
    isOver: view.ended !== undefined,
    createdAt: instantOf(seen.object.metadata.creationTimestamp) ?? seen.now,
    ...{ waitsFor: view.waitsFor, todo: view.do },
    ...instants(view),
    facts: [
      ...Object.entries(view.details).flatMap(([head, value]) =>
        value === "" ? [] : [[head, String(value)] as const],
      ),
      ...(view.kueue === undefined ? [] : [["KUEUE", kueueText(view.kueue, timeText)] as const]),
      ...(view.driver === undefined ? [] : [["DRIVER SAID", driverWordsText(view.driver)] as const]),
    ],
    notes: view.notes,
    ...times,
    keptLogs,
    changes: changesIn(record, times.history),
    ...membersOf(seen),
    losses: ends.losses.map(({ pod: _, ...loss }) => loss),
    lost: lostCount(view.executors),
    updates: updatesIn(view),
    lanes,
    lanesAt: Date.now(),
    ...grantsOf(view),
    ...quotaOf(record, seen.now),
    ...pricesFor(lanes, rates),
    events: events.map(({ at, type, reason, about, message, count }) => ({ at, type, reason, about, message, count })),
    eventsError: error,
    spec: shown({ metadata: seen.object.metadata, spec: seen.object.spec }),
    record: recordText(seen),
  };
};

/** The most notes of one object that are shown; the rest is counted. */
const mostNotes = 20;

/** Notes on fields that the object's run does not get as its spec says. Code of submissions is loaded with the first object. */
const notesOn = async (object: Stored): Promise<readonly string[]> => {
  const { forecastFor } = await import("../common/forecasts.ts");
  const { notes = [] } = forecastFor(object).created?.(object, defaultOptions) ?? {};
  const more = notes.length - mostNotes;
  const shown = notes.slice(0, mostNotes).map((note) => oneLine(note).slice(0, longestName));
  return more <= 0 ? shown : [...shown, `and ${counted(more, "more note")}: rekindle status shows all`];
};

type Reading = { readonly board: Board; readonly rates: Rates | undefined; readonly kept: KeptLogs };

const read = async (
  source: Source,
  named: ObjectName,
  { board, rates, kept }: Reading,
): Promise<Detail | undefined> => {
  const kind = kindNamed(named.kind);
  if (kind === undefined || keyKindOf(kind.resource) !== named.kind) return undefined;
  try {
    const found = await look(source, { kind, key: { cluster: "default", ...named } }, Date.now());
    const seen = { ...found, notes: await notesOn(found.object) };
    const record = seen.found.is === "record" ? seen.found.record : undefined;
    const [talk, keptLogs] = await Promise.all([readEvents(source, seen), kept(named, record), rates?.refresh()]);
    return detailOf(seen, { talk, board, rates, keptLogs });
  } catch (cause) {
    if (cause instanceof Refused) return undefined;
    throw cause;
  }
};

/** Reads one application, or answers with what was read a moment ago. */
export type Details = (named: ObjectName) => Promise<Detail | undefined>;

type Options = {
  /** Monotonic, ms. */
  readonly now?: () => number;
  readonly freshMs?: number | undefined;
  /** Absent: no money is shown. */
  readonly rates?: Rates | undefined;
};

/** Opens the details. */
export const openDetails = (
  source: Source,
  board: Board,
  { now = () => performance.now(), freshMs = usualFreshMs, rates }: Options = {},
): Details => {
  const answers = new Map<string, Answer>();
  const reading: Reading = { board, rates, kept: openKeptLogs(source) };
  const keep = (key: string, answer: Answer): Answer => {
    answers.delete(key);
    answers.set(key, answer);
    forgetOldest(answers, mostAnswers);
    answer.detail.catch(() => {
      if (answers.get(key) === answer) answers.delete(key);
    });
    return answer;
  };
  const begin = (key: string, named: ObjectName): Answer =>
    keep(key, { at: now(), changes: board.changes(key), detail: read(source, named, reading) });
  /** A change that comes soon after a read is read once, when the calm is over. */
  const beginLater = (key: string, named: ObjectName, calm: number): Answer => {
    const detail = setTimeout(calm).then(() => begin(key, named).detail);
    return keep(key, { at: now(), changes: undefined, detail });
  };
  const answerFor = (key: string, named: ObjectName): Answer => {
    const known = answers.get(key);
    if (known === undefined) return begin(key, named);
    const age = now() - known.at;
    if (known.changes === undefined || (known.changes === board.changes(key) && age < freshMs)) return known;
    return age < calmMs ? beginLater(key, named, calmMs - age) : begin(key, named);
  };
  return (named) => answerFor(keyOf(named), named).detail;
};
