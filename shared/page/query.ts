/** The filter of the list as people type it, `since:2h kind:Spark ns:risk state:failed text`, and the order of rows. Pure. */
import { isSchedule } from "./kinds.ts";
import { type Group, groups, type Row } from "./wire.ts";

export type Query = {
  /** Seconds; ended applications of before are left out. Active ones are always shown. */
  readonly since: number | undefined;
  readonly kinds: readonly string[];
  readonly namespaces: readonly string[];
  readonly states: readonly string[];
  readonly queues: readonly string[];
  readonly texts: readonly string[];
};

const sizes: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

const spanIn = (text: string): number | undefined => {
  const [, amount, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (sizes[unit] ?? 1);
};

type Field = "kind" | "ns" | "state" | "queue";

const isField = (word: string): word is Field => ["kind", "ns", "state", "queue"].includes(word);

export const parse = (text: string): Query => {
  const fields: Readonly<Record<Field, string[]>> = { kind: [], ns: [], state: [], queue: [] };
  const texts: string[] = [];
  let since: number | undefined;
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [, field = "", value = ""] = /^(since|kind|ns|state|queue):(.+)$/.exec(word) ?? [];
    if (isField(field)) fields[field].push(value);
    else if (field === "since") since = spanIn(value) ?? since;
    else texts.push(word);
  }
  return { since, kinds: fields.kind, namespaces: fields.ns, states: fields.state, queues: fields.queue, texts };
};

const isEnded = (group: Group): boolean => group === "failed" || group === "completed";

const includesAny = (wanted: readonly string[], ...given: readonly string[]): boolean =>
  wanted.length === 0 || wanted.some((one) => given.some((text) => text.toLowerCase().includes(one)));

const isWithin = ({ since }: Query, row: Row, now: number): boolean =>
  since === undefined || !isEnded(row.group) || now - row.since <= since;

export const matches = (query: Query, row: Row, now: number): boolean =>
  isWithin(query, row, now) &&
  includesAny(query.kinds, row.kind) &&
  (query.namespaces.length === 0 || query.namespaces.includes(row.namespace)) &&
  includesAny(query.states, row.state, row.group) &&
  includesAny(query.queues, row.queue) &&
  query.texts.every((text) => `${row.namespace}/${row.name} ${row.waits}`.toLowerCase().includes(text));

const rank: Readonly<Record<Group, number>> = {
  failed: groups.indexOf("failed"),
  waiting: groups.indexOf("waiting"),
  held: groups.indexOf("held"),
  submitted: groups.indexOf("submitted"),
  running: groups.indexOf("running"),
  completed: groups.indexOf("completed"),
};

const compared = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** The order of the list: applications that need attention first, among equals the newest change. */
export const byAttention = (a: Row, b: Row): number =>
  rank[a.group] - rank[b.group] ||
  b.since - a.since ||
  compared(a.namespace, b.namespace) ||
  compared(a.name, b.name) ||
  compared(a.kind, b.kind);

export const select = (rows: Iterable<Row>, query: Query, now: number): readonly Row[] => {
  const found: Row[] = [];
  for (const row of rows) if (!isSchedule(row) && matches(query, row, now)) found.push(row);
  return found.sort(byAttention);
};

/** Counts by group, of the rows that the filter would show without its states. */
export const countsOf = (rows: Iterable<Row>, query: Query, now: number): Readonly<Record<Group, number>> => {
  const counts = { failed: 0, waiting: 0, held: 0, submitted: 0, running: 0, completed: 0 };
  const anyState = { ...query, states: [] };
  for (const row of rows) if (!isSchedule(row) && matches(anyState, row, now)) counts[row.group] += 1;
  return counts;
};

/** Returns the filter with a state switched on or off. */
export const withStateToggled = (text: string, group: Group): string => {
  const words = text.split(/\s+/).filter(Boolean);
  const word = `state:${group}`;
  const others = words.filter((one) => !one.startsWith("state:"));
  return (words.includes(word) ? others : [...others, word]).join(" ");
};
