/**
 * The outbox of one key: the status updates that are still to be delivered, in order. Pure. It is part of the record,
 * so a change and its update are saved together, once.
 */

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
  /** Name of the stream, if this update begins one. */
  readonly stream: string;
};

/** Returns the outbox with this update appended, unless it repeats the newest one. */
export const appended = (outbox: Outbox | undefined, word: StateUpdate, { uid, now, to, stream }: Occasion): Outbox => {
  const kept = outbox ?? { stream, to, entries: [] };
  const newest = newestOf(kept);
  if (says(newest, uid, word)) return kept.to === to ? kept : { ...kept, to };
  const { message, ...rest } = word;
  const bounded = message === undefined ? rest : { ...rest, message: message.slice(0, longestMessage) };
  const update: Update = { ...bounded, sequence: (newest?.sequence ?? 0) + 1, uid, at: now };
  return { ...kept, to, entries: coalesced([...kept.entries, update]) };
};

/** Drops acknowledged updates except the newest. A position of another stream is ignored. */
export const behind = (outbox: Outbox, acknowledged: Position | undefined): Outbox => {
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
