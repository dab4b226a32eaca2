/**
 * One application as the page shows it: what `rekindle status` says, its pods over time, its events, spec and record.
 * Read once for all viewers: requests in flight and answers of an unchanged application are shared.
 */
import { setTimeout } from "node:timers/promises";
import { type EventEntry, eventsAbout } from "../../cli/inspection/event.ts";
import { look, type Seen, statusView } from "../../cli/inspection/status.ts";
import { asYaml } from "../../cli/io/documents.ts";
import { Refused, type Source } from "../../cli/io/tools.ts";
import { kindNamed } from "../../cli/kinds/all.ts";
import { forgetOldest } from "../../core/cache.ts";
import { ApiError } from "../../core/http.ts";
import { isTooMuch } from "../../core/json.ts";
import { bytesOf } from "../../core/share.ts";
import { instantOf } from "../../core/time.ts";
import { labelOf } from "../../kube/pods.ts";
import { masked } from "../../kube/secret-mask.ts";
import { type Detail, keyOf, type Row } from "../../page/wire.ts";
import type { Board } from "./board.ts";
import { openLanes, recordedLosses, withLosses } from "./lanes.ts";
import { flowOf, gangOf } from "./members.ts";
import { groupOf } from "./projection.ts";

export type Named = Pick<Row, "kind" | "namespace" | "name">;

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
const subjectsOf = ({ target, pods }: Seen) => [
  { kind: target.kind.resource.kind, name: target.key.name },
  ...pods
    .filter((pod) => labelOf(pod, "spark-exec-id") === undefined)
    .slice(-mostTalkers)
    .map(({ metadata }) => ({ kind: "Pod", name: metadata.name })),
];

/** Reads the events; a caller without the right gets the reason instead. */
const readEvents = async (source: Source, seen: Seen): Promise<EventsRead> => {
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
const presentLanes = (seen: Seen) => {
  const lanes = openLanes();
  const { kind, namespace, name } = seen.target.key;
  for (const pod of seen.pods) lanes.see(pod);
  return lanes.of(`${kind}/${namespace}/${name}`);
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

const recordText = ({ found }: Seen): string => {
  if (found.is === "record") return shown(found.record);
  return found.is === "none" ? `no record: ${found.why}` : `the record cannot be read: ${found.error}`;
};

const timesOf = (view: ReturnType<typeof statusView>, { found }: Seen) => ({
  history: view.history.map(({ state, attempt, at }) => ({
    state,
    attempt,
    at: Date.parse(at),
    group: groupOf(state),
  })),
  runs: view.runs.map(({ attempt, outcome, endedAt, error = "" }) => ({ attempt, outcome, at: endedAt, error })),
  saves: found.is === "record" ? found.record.saves : undefined,
});

const membersOf = (seen: Seen): Pick<Detail, "gang" | "flow"> => {
  const [gang, flow] = [gangOf(seen), flowOf(seen)];
  return { ...(gang === undefined ? {} : { gang }), ...(flow === undefined ? {} : { flow }) };
};

const detailOf = (seen: Seen, { events, error }: EventsRead, board: Board): Detail => {
  const view = statusView(seen);
  const key = keyOf(view);
  const losses = recordedLosses(view.executors);
  const seenLanes = board.lanes(key);
  const lanes = seenLanes.length === 0 ? presentLanes(seen) : seenLanes;
  const attempt = view.history.at(-1)?.attempt ?? view.attempts ?? 1;
  return {
    ...{ kind: view.kind, namespace: view.namespace, name: view.name, now: seen.now, state: view.state },
    group: board.row(key)?.group ?? groupOf(view.state),
    attempts: view.attempts ?? 0,
    message: view.message ?? "",
    isOver: view.ended !== undefined,
    createdAt: instantOf(seen.object.metadata.creationTimestamp) ?? seen.now,
    ...{ waitsFor: view.waitsFor, todo: view.do },
    ...instants(view),
    facts: Object.entries(view.details).filter(([, value]) => value !== ""),
    ...timesOf(view, seen),
    ...membersOf(seen),
    losses: losses.map(({ pod: _, ...loss }) => loss),
    lost: view.executors?.lost ?? {},
    updates: updatesIn(view),
    lanes: withLosses(lanes, losses, attempt),
    lanesAt: Date.now(),
    events: events.map(({ at, type, reason, about, message, count }) => ({ at, type, reason, about, message, count })),
    eventsError: error,
    spec: shown({ metadata: seen.object.metadata, spec: seen.object["spec"] }),
    record: recordText(seen),
  };
};

const read = async (source: Source, named: Named, board: Board): Promise<Detail | undefined> => {
  const kind = kindNamed(named.kind);
  if (kind === undefined || kind.resource.kind !== named.kind) return undefined;
  try {
    const seen = await look(source, { kind, key: { cluster: "default", ...named } }, Date.now());
    return detailOf(seen, await readEvents(source, seen), board);
  } catch (cause) {
    if (cause instanceof Refused) return undefined;
    throw cause;
  }
};

/** Reads one application, or answers with what was read a moment ago. */
export type Details = (named: Named) => Promise<Detail | undefined>;

type Timing = {
  /** Monotonic, ms. */
  readonly now?: () => number;
  readonly freshMs?: number | undefined;
};

/** Opens the details. */
export const openDetails = (
  source: Source,
  board: Board,
  { now = () => performance.now(), freshMs = usualFreshMs }: Timing = {},
): Details => {
  const answers = new Map<string, Answer>();
  const keep = (key: string, answer: Answer): Answer => {
    answers.delete(key);
    answers.set(key, answer);
    forgetOldest(answers, mostAnswers);
    answer.detail.catch(() => {
      if (answers.get(key) === answer) answers.delete(key);
    });
    return answer;
  };
  const begin = (key: string, named: Named): Answer =>
    keep(key, { at: now(), changes: board.changes(key), detail: read(source, named, board) });
  /** A change that comes soon after a read is read once, when the calm is over. */
  const beginLater = (key: string, named: Named, calm: number): Answer => {
    const detail = setTimeout(calm).then(() => begin(key, named).detail);
    return keep(key, { at: now(), changes: undefined, detail });
  };
  const answerFor = (key: string, named: Named): Answer => {
    const known = answers.get(key);
    if (known === undefined) return begin(key, named);
    const age = now() - known.at;
    if (known.changes === undefined || (known.changes === board.changes(key) && age < freshMs)) return known;
    return age < calmMs ? beginLater(key, named, calmMs - age) : begin(key, named);
  };
  return (named) => answerFor(keyOf(named), named).detail;
};
