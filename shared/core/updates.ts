/**
 * Status updates. The outbox of one key holds those that are still to be delivered, in order; it is part of the record,
 * so a change and its update are saved together, once. The interface of listeners to updates. Pure.
 */
import { digest, type Key, textOf } from "./key.ts";

/** A status update as a decision produces it. */
export type StateUpdate = {
  readonly state: string;
  readonly attempt: number;
  /** No further state follows without a change from outside. */
  readonly terminal: boolean;
  readonly message?: string | undefined;
};

/** A status update in the outbox. `sequence` counts from 1 within its stream; `at` in epoch ms. */
export type Update = StateUpdate & {
  readonly sequence: number;
  /** UID of the object that it is about; another object of the same name continues the stream. */
  readonly uid: string;
  readonly at: number;
};

export type Outbox = {
  /** Name of the stream: a rebuilt record begins a new one. */
  readonly stream: string;
  /** The UID of the object that began the stream, and the moment: the stream's name is derived from it. */
  readonly origin?: string | undefined;
  /** The proof that the operator's process wrote it; absent where nothing is set to make one with. */
  readonly proof?: string | undefined;
  /** The last known destination of the updates. */
  readonly to: string;
  /**
   * Oldest first, and never empty: the newest stays when all are acknowledged, because the next one is compared with
   * it.
   */
  readonly entries: readonly Update[];
  /** When everything that the object left was settled and only its updates kept the record, epoch ms. */
  readonly leftAt?: number | undefined;
};

/** Returns the name of a stream. No record of another key, or of another cluster, can have one of that name. */
export const streamName = (cluster: string, key: Key, origin: string): string =>
  digest("stream", cluster, textOf(key), origin).slice(0, 16);

/** A position in a stream: that of its newest update, or of the newest one that was acknowledged. */
export type Position = { readonly stream: string; readonly sequence: number };

/** The number of updates that are kept. Beyond it intermediate states are dropped, terminal ones never. */
export const capacity = 32;

const longestMessage = 500;

export const newestOf = ({ entries }: Outbox): Update | undefined => entries.at(-1);

/** Text of a position; equal texts mean that no update waits. */
export const positionText = ({ stream, sequence }: Position): string => `${stream}/${sequence}`;

export const positionOf = (outbox: Outbox): Position => ({
  stream: outbox.stream,
  sequence: newestOf(outbox)?.sequence ?? 0,
});

/** Drops surplus updates, but not the first, which may be in delivery, nor the newest, nor terminal ones. */
const coalesced = (entries: readonly Update[]): readonly Update[] => {
  const surplus = entries.length - capacity;
  if (surplus <= 0) return entries;
  const spare = entries.slice(1, -1).filter(({ terminal }) => !terminal);
  const passed = new Set(spare.slice(0, surplus));
  return entries.filter((entry) => !passed.has(entry));
};

const says = (newest: Update | undefined, uid: string, { state, attempt }: StateUpdate): boolean =>
  newest?.uid === uid && newest.state === state && newest.attempt === attempt;

type Occasion = {
  readonly uid: string;
  readonly now: number;
  readonly to: string;
  /** The stream, if this update begins one. */
  readonly begins: Pick<Outbox, "stream" | "origin">;
};

/** Returns the outbox with this update appended, unless it repeats the newest one. */
export const appended = (outbox: Outbox | undefined, word: StateUpdate, { uid, now, to, begins }: Occasion): Outbox => {
  const kept = outbox ?? { ...begins, to, entries: [] };
  const newest = newestOf(kept);
  if (says(newest, uid, word)) return kept.to === to ? kept : { ...kept, to };
  const { message, ...rest } = word;
  const bounded = message === undefined ? rest : { ...rest, message: message.slice(0, longestMessage) };
  const update: Update = { ...bounded, sequence: (newest?.sequence ?? 0) + 1, uid, at: now };
  return { ...kept, to, entries: coalesced([...kept.entries, update]) };
};

/** Drops acknowledged updates except the newest. A position of another stream is ignored. */
export const withoutAcknowledged = (outbox: Outbox, acknowledged: Position | undefined): Outbox => {
  if (acknowledged?.stream !== outbox.stream) return outbox;
  const newest = newestOf(outbox);
  const entries = outbox.entries.filter((entry) => entry === newest || entry.sequence > acknowledged.sequence);
  return entries.length === outbox.entries.length ? outbox : { ...outbox, entries };
};

/** Returns the updates that are not acknowledged, oldest first. */
export const waiting = (outbox: Outbox, acknowledged: Position | undefined): readonly Update[] => {
  const done = acknowledged?.stream === outbox.stream ? acknowledged.sequence : 0;
  return outbox.entries.filter(({ sequence }) => sequence > done);
};

/** One update as a listener receives it. */
export type SentUpdate = {
  readonly key: Key;
  /** UID of the object, as far as it is known. */
  readonly uid: string;
  /** `stream/sequence`: a listener that has seen it drops the copy, and acknowledges again. */
  readonly id: string;
  readonly stream: string;
  readonly update: Update;
  /** JSON text. */
  readonly body: string;
  /** W3C trace context of the event that led to the update; not part of the signed text. */
  readonly trace?: string | undefined;
};

/** The outcome of sending. `refused`: nothing was sent, and nothing will be until the configuration changes. */
export type Sent =
  | { readonly did: "acknowledged" }
  | { readonly did: "failed"; readonly error: string }
  | { readonly did: "refused"; readonly error: string };

/**
 * Sends one update and waits for its acknowledgement, 2 s at most. `now` by the API server's clock, epoch ms. Never
 * throws.
 */
export type Sink = (to: string, sentUpdate: SentUpdate, now: number) => Promise<Sent>;

/** Annotation on an object or its namespace: the listener for its status updates. */
export const listenerAnnotation = "rekindle.dev/updates-to";

/**
 * Stands for the listener in the operator's configuration: its URL may hold a token and must not be in a tenant's
 * record.
 */
export const operatorsListener = "operator";

const namespaceMark = "namespace ";

/**
 * Stands for the listener that a namespace names: its URL may hold a token, and a reader of the namespace's records may
 * not read the namespace. Another listener has another mark.
 */
export const namespacesListener = (listener: string): string =>
  `${namespaceMark}${digest("listener", listener).slice(0, 16)}`;

/** True for a destination that no object may name: a queue, and what stands for a listener of others. */
export const isOfOthers = (to: string): boolean =>
  to === operatorsListener || to.startsWith(namespaceMark) || to.startsWith("sqs:");

/** The forms of a listener that an object may name; a namespace may also name `sqs:` and a queue's URL. */
export const listenerForms = "an https:// URL, events, or none";

/**
 * Why a URL with a name and a password is not a listener: records contain the URL and must not contain secrets. The
 * text contains nothing of the URL.
 */
export const userPartSaying = "remove the user name and the password from the listener's URL";

/** True for a URL with a user name or a password before its host. */
export const hasUserPart = (text: string): boolean => {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== "" || password !== "";
};

/** True for a valid listener, whether or not the operator allows it. */
export const isListener = (text: string): boolean =>
  text === "events" || text === "none" || (/^https?:/.test(text) && URL.canParse(text) && !hasUserPart(text));

/**
 * Returns the listener annotation for objects that this one creates, so that they have the same listener. Empty if it
 * names none.
 */
export const inheritedListener = (annotations: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const listener = annotations[listenerAnnotation];
  return listener === undefined ? {} : { [listenerAnnotation]: listener };
};
