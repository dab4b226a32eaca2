/**
 * The invariants of status updates, judged from an application's records and from the requests to its listeners.
 *
 * L1. A request contains a recorded update, after it was recorded; a repeated id has the same content.
 * L2. Requests follow the order of their stream: none comes after a newer one.
 * L3. No request leaves after the record shows its acknowledgement, and the record shows it only after a listener's.
 * L4. One update is outstanding: the next one follows the acknowledgement; the same one comes not again within 9 s.
 * L5. A request carries the latest state: none older than the one when its sender began its observation.
 * L6. An outbox holds at most 32 updates. Only intermediate states are dropped, and only from a full one.
 * L7. At the end every update is acknowledged, or given up an hour after the deletion of its object; the last one has
 *     the final state, and an end closes the stream.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import type { Told } from "./facts.ts";
import { at, numberAt, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import type { Swept } from "./kinds.ts";
import { home, isDelivery } from "./objects.ts";
import type { Oracle } from "./oracle.ts";
import { appName, namespace } from "./scenario.ts";

type Item = Change["object"];

type Entry = {
  readonly text: string;
  readonly state: string;
  readonly terminal: boolean;
  readonly recordedAt: number;
  acknowledgedAt?: number | undefined;
  /** Instant at which the record first showed the acknowledgement. */
  savedAt?: number;
  passedOver?: boolean;
  /** Instant of the newest request, by its listener. */
  sentAt: Readonly<Record<string, number>>;
};

type Stream = { readonly entries: Map<number, Entry>; highest: number; leftAt: number | undefined };

type Notes = { violations: string[]; current: string | undefined; readonly streams: Map<string, Stream> };

const blank = (): Notes => ({ violations: [], current: undefined, streams: new Map() });

const capacity = 32;
const lingerMs = 3_600_000;
/** The retry comes after 10 s, by a clock in whole seconds. */
const soonestMs = 8_900;
const checkpoints = "checkpoints.rekindle.dev";

/** The object whose updates are judged; other requests are about objects that it made. */
type About = Pick<Swept, "kind" | "table" | "everywhere" | "alone" | "shown">;

const homeOf = ({ everywhere }: About): string => (everywhere ? home : namespace);

const isRecord = (about: About, { metadata }: Item): boolean =>
  metadata.namespace === homeOf(about) && metadata.name === `${about.kind.toLowerCase()}.${appName}`;

const subjectOf = ({ kind, everywhere }: About): string => `${kind}/${everywhere ? "" : namespace}/${appName}`;

const secondsOf = (time: unknown): number =>
  Math.floor((typeof time === "number" ? time : Date.parse(String(time))) / 1_000);

/** A recorded or sent state, as text. */
const textOf = (one: unknown): string => {
  const [state, attempt, terminal, message] = ["state", "attempt", "terminal", "message"].map((name) => at(one, name));
  return JSON.stringify([state, attempt, terminal, message ?? null, secondsOf(at(one, "at") ?? at(one, "time"))]);
};

type Blame = (what: string) => void;

const streamIn = ({ streams }: Notes, name: string): Stream => {
  const found = streams.get(name) ?? { entries: new Map(), highest: 0, leftAt: undefined };
  streams.set(name, found);
  return found;
};

const isOpen = ({ savedAt, passedOver }: Entry): boolean => savedAt === undefined && passedOver !== true;

/** L1, for a saved outbox. */
const hearOutbox = ({ entries }: Stream, listed: readonly unknown[], now: number, blame: Blame): void => {
  for (const one of listed) {
    const [sequence, text] = [numberAt(one, "sequence") ?? 0, textOf(one)];
    const known = entries.get(sequence);
    if (known !== undefined && known.text !== text) blame(`L1: what was recorded as ${sequence} became another`);
    const [state, terminal] = [textAt(one, "state") ?? "", at(one, "terminal") === true];
    if (known === undefined) entries.set(sequence, { text, state, terminal, recordedAt: now, sentAt: {} });
  }
};

/** L6, for updates that the outbox has dropped. */
const checkDropped = ({ entries }: Stream, listed: readonly unknown[], blame: Blame): void => {
  const standing = new Set(listed.map((one) => numberAt(one, "sequence") ?? 0));
  if (listed.length > capacity) blame(`L6: ${listed.length} updates are kept`);
  for (const [sequence, entry] of entries) {
    if (standing.has(sequence) || !isOpen(entry)) continue;
    if (listed.length < capacity || entry.terminal) blame(`L6: ${sequence} was dropped before it was acknowledged`);
    entry.passedOver = true;
  }
};

const hearRecord = (notes: Notes, { type, object }: Change, now: number, blame: Blame): void => {
  const outbox = type === "DELETED" ? undefined : at(object, "spec", "outbox");
  const current = notes.current === undefined ? undefined : notes.streams.get(notes.current);
  if (outbox === undefined) {
    const open = [...(current?.entries ?? [])].filter(([, entry]) => isOpen(entry)).map(([sequence]) => sequence);
    const isGivenUp = current?.leftAt !== undefined && now - current.leftAt >= lingerMs;
    if (open.length > 0 && !isGivenUp) blame(`L7: ${open.join(", ")} went with the record, and nobody acknowledged it`);
    return;
  }
  const name = textAt(outbox, "stream") ?? "";
  if (notes.current !== undefined && notes.current !== name) blame("L2: a stream is given up for another one");
  notes.current = name;
  const told = at(outbox, "entries");
  const listed: readonly unknown[] = Array.isArray(told) ? told : [];
  const stream = streamIn(notes, name);
  stream.leftAt = numberAt(outbox, "leftAt");
  hearOutbox(stream, listed, now, blame);
  checkDropped(stream, listed, blame);
};

/** L3, for a saved record of the delivery. */
const hearDelivery = (notes: Notes, { object }: Change, now: number, blame: Blame): void => {
  const spec = object["spec"];
  const sequence = numberAt(spec, "acknowledged", "sequence") ?? 0;
  const { entries } = streamIn(notes, textAt(spec, "acknowledged", "stream") ?? "");
  for (const [one, entry] of entries) {
    if (one > sequence || !isOpen(entry)) continue;
    if (entry.acknowledgedAt === undefined || entry.acknowledgedAt > now)
      blame(`L3: ${one} counts as acknowledged, and nobody has acknowledged it`);
    entry.savedAt = now;
  }
  const isClosed = at(spec, "memory", "closed") === true;
  if (isClosed !== (entries.get(sequence)?.terminal ?? false)) blame(`L7: the stream is not closed by its end`);
  if (JSON.stringify(object).length > 65_536) blame("I9: a checkpoint is larger than 64 KiB");
};

const toldOf = (data: unknown): string =>
  ["kind", "namespace", "name"].map((name) => textAt(data, name) ?? "").join("/");

const checkContent = (entry: Entry, data: unknown, id: string, blame: Blame): void => {
  if (textOf(data) !== entry.text) blame(`L1: ${id} is told as ${textOf(data)}, and recorded as ${entry.text}`);
};

/** L5. */
const checkLatest = ({ entries }: Stream, data: unknown, { lookedAt }: Told, blame: Blame): void => {
  const [own, latest] = [numberAt(data, "sequence") ?? 0, numberAt(data, "latest", "sequence") ?? 0];
  const stood = [...entries].filter(([, { recordedAt }]) => recordedAt <= lookedAt).map(([sequence]) => sequence);
  if (latest < Math.max(own, ...stood))
    blame(`L5: ${own} says that ${latest} is the latest, and ${stood.at(-1)} stood`);
  if (textOf(at(data, "latest")) !== entries.get(latest)?.text) blame(`L5: ${latest} is told as it was not`);
};

/** L2, L4. */
const checkTurn = ({ entries, highest }: Stream, sequence: number, { sentAt, to }: Told, blame: Blame): void => {
  if (sequence < highest) blame(`L2: ${sequence} comes after ${highest}`);
  const before = entries.get(highest);
  if (sequence > highest && before !== undefined && (before.acknowledgedAt ?? Number.POSITIVE_INFINITY) > sentAt)
    blame(`L4: ${sequence} comes before ${highest} is acknowledged`);
  const last = entries.get(sequence)?.sentAt[to];
  if (last !== undefined && sentAt - last < soonestMs) blame(`L4: ${sequence} comes again after ${sentAt - last} ms`);
};

const hearRequest = (about: About, notes: Notes, told: Told, blame: Blame): void => {
  const event: unknown = JSON.parse(told.body);
  const [id, data] = [textAt(event, "id") ?? "", at(event, "data")];
  if (toldOf(data) !== subjectOf(about)) {
    if (about.alone) blame(`L1: ${id} is told of ${toldOf(data)}`);
    return;
  }
  const [name = "", number] = id.split("/");
  const [stream, sequence] = [streamIn(notes, name), Number(number)];
  const entry = stream.entries.get(sequence);
  if (entry === undefined) {
    blame(`L1: ${id} is told, and was never recorded`);
    return;
  }
  checkContent(entry, data, id, blame);
  checkLatest(stream, data, told, blame);
  checkTurn(stream, sequence, told, blame);
  if ((entry.savedAt ?? told.sentAt) < told.sentAt)
    blame(`L3: ${sequence} is sent again, and its acknowledgement was saved`);
  stream.highest = Math.max(stream.highest, sequence);
  entry.sentAt = { ...entry.sentAt, [told.to]: told.sentAt };
  const { acknowledgedAt = entry.acknowledgedAt } = told;
  entry.acknowledgedAt = Math.min(
    entry.acknowledgedAt ?? Number.POSITIVE_INFINITY,
    acknowledgedAt ?? Number.POSITIVE_INFINITY,
  );
};

/** L7, by the oracle's own table. */
const checkFinal = ({ shown }: About, { state, terminal }: Entry, blame: Blame): void => {
  const isEnd = shown.ends?.includes(state) ?? false;
  if (terminal !== isEnd) blame(`L7: ${state} is told as ${terminal ? "an end" : "no end"}`);
};

/** L7. */
const checkEnd = (about: About, notes: Notes, objects: Parameters<Oracle["end"]>[0], blame: Blame): void => {
  const stream = notes.current === undefined ? undefined : notes.streams.get(notes.current);
  const found = (table: string, is: (object: Item) => boolean): Item | undefined =>
    objects.find((one) => one.table === table && is(one.object))?.object;
  const app = found(about.table, ({ metadata }) => metadata.name === appName);
  const last = [...(stream?.entries.values() ?? [])].at(-1);
  if (stream === undefined || last === undefined) {
    blame("L7: nothing was told");
    return;
  }
  const subject = { namespace: homeOf(about), name: appName, kind: about.kind };
  const delivery = found(checkpoints, (object) => isDelivery(object, subject));
  if (app === undefined) {
    if (!last.terminal) blame(`L7: it is gone, and the last word is ${last.state}`);
    if (delivery !== undefined) blame("L7: the record of its delivery is left");
    return;
  }
  const open = [...stream.entries].filter(([, entry]) => isOpen(entry)).map(([sequence]) => sequence);
  if (open.length > 0) blame(`L7: ${open.join(", ")} was never acknowledged`);
  const state = about.shown.state(app);
  checkFinal(about, last, blame);
  if (last.state !== state) blame(`L7: it is ${state}, and the last word is ${last.state}`);
  if (at(delivery, "spec", "memory", "outstanding") !== undefined) blame("L7: something is left outstanding");
};

/** The oracle of a scenario with listeners. */
export const attended = (oracle: Oracle, about: About, notes: Notes = blank()): Oracle => {
  const subject = { namespace: homeOf(about), name: appName, kind: about.kind };
  const blame = (what: string): void => {
    if (!notes.violations.includes(what)) notes.violations.push(what);
  };
  return {
    ...oracle,
    hear: (change, actor, now) => {
      oracle.hear(change, actor, now);
      if (change.table !== checkpoints) return;
      if (isRecord(about, change.object)) hearRecord(notes, change, now, blame);
      if (isDelivery(change.object, subject) && change.type !== "DELETED") hearDelivery(notes, change, now, blame);
    },
    told: (told) => hearRequest(about, notes, told, blame),
    end: (objects, now) => {
      oracle.end(objects, now);
      checkEnd(about, notes, objects, blame);
    },
    violations: () => [...oracle.violations(), ...notes.violations],
    copy: () => attended(oracle.copy(), about, forked(notes)),
  };
};
