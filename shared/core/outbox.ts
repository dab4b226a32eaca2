/**
 * The outbox of one key: what is still to be told of it, in order. Pure; it is part of the record, so that what happened
 * and that it is to be told are saved together, once and only once.
 */

/** What a decision means to whoever listens. */
export type StateUpdate = {
  readonly state: string;
  readonly attempt: number;
  /** Nothing follows by itself. */
  readonly terminal: boolean;
  readonly message?: string | undefined;
};

/** One thing to tell. `sequence` counts from 1 within its stream; `at` in epoch ms. */
export type Update = StateUpdate & {
  readonly sequence: number;
  /** UID of the object that it tells of: another of the same name goes on in the same stream. */
  readonly uid: string;
  readonly at: number;
};

export type Outbox = {
  /** Names the stream: a record that is made anew begins another one. */
  readonly stream: string;
  /** Where updates go, as it was last known. */
  readonly to: string;
  /** Oldest first, and never empty: the newest stays when all is acknowledged, for it says what was told last. */
  readonly entries: readonly Update[];
  /** When all that the object left was settled, and only its updates kept the record, epoch ms. */
  readonly leftAt?: number | undefined;
};

/** How far a stream has come: its newest update, or the newest that was acknowledged. */
export type Position = { readonly stream: string; readonly sequence: number };

/** So many updates are kept; beyond that states in between are passed over, ends never. */
export const capacity = 32;

const longestMessage = 500;

export const newestOf = ({ entries }: Outbox): Update | undefined => entries.at(-1);

/** Text of a position: equal texts mean that nothing waits. */
export const positionText = ({ stream, sequence }: Position): string => `${stream}/${sequence}`;

export const positionOf = (outbox: Outbox): Position => ({
  stream: outbox.stream,
  sequence: newestOf(outbox)?.sequence ?? 0,
});

/** Neither the one that may be on its way, nor the newest, nor an end is passed over. */
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
  /** Name of the stream, if this begins one. */
  readonly stream: string;
};

/** The outbox with this word, unless it is what was told last. */
export const appended = (outbox: Outbox | undefined, word: StateUpdate, { uid, now, to, stream }: Occasion): Outbox => {
  const kept = outbox ?? { stream, to, entries: [] };
  const newest = newestOf(kept);
  if (says(newest, uid, word)) return kept.to === to ? kept : { ...kept, to };
  const { message, ...rest } = word;
  const told = message === undefined ? rest : { ...rest, message: message.slice(0, longestMessage) };
  const update: Update = { ...told, sequence: (newest?.sequence ?? 0) + 1, uid, at: now };
  return { ...kept, to, entries: coalesced([...kept.entries, update]) };
};

/** Without what is acknowledged; the newest stays. A position of another stream says nothing. */
export const behind = (outbox: Outbox, acknowledged: Position | undefined): Outbox => {
  if (acknowledged?.stream !== outbox.stream) return outbox;
  const newest = newestOf(outbox);
  const entries = outbox.entries.filter((entry) => entry === newest || entry.sequence > acknowledged.sequence);
  return entries.length === outbox.entries.length ? outbox : { ...outbox, entries };
};

/** What nobody has acknowledged, oldest first. */
export const waiting = (outbox: Outbox, acknowledged: Position | undefined): readonly Update[] => {
  const done = acknowledged?.stream === outbox.stream ? acknowledged.sequence : 0;
  return outbox.entries.filter(({ sequence }) => sequence > done);
};
