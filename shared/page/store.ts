/** The state that all screens read: rows, queues, clocks, and what is known of the connection. */
import { computed, signal } from "@preact/signals";
import { place } from "./place.ts";
import { countsOf, parse, select } from "./query.ts";
import { type Batch, type FirstRows, type Health, keyOf, type QueueRow, type Row, rowsOf } from "./wire.ts";

/** How changes reach the page. */
export type Link = "starting" | "live" | "polling" | "behind" | "signed out";

export const link = signal<Link>("starting");
/** Epoch ms of the last word of the server, by this machine's clock. */
export const heardAt = signal(Date.now());
/** The viewer's clock, epoch ms, once a second. */
export const now = signal(Date.now());
export const health = signal<Health | undefined>(undefined);
export const queues = signal<readonly QueueRow[]>([]);
/** Why the last sign-in failed. */
export const refused = signal("");

const rows = new Map<string, Row>();
const version = signal(0);
/** True once all rows have come. */
export const isLoaded = signal(false);
/** The server's clock minus this machine's, ms. */
let skew = 0;

export const all = computed((): readonly Row[] => {
  version.value;
  return [...rows.values()];
});

/** The applications whose records have to be repaired. */
export const broken = computed(() => all.value.filter(({ repair }) => repair !== ""));

/** Time for the filter: coarse, so that it does not sort once a second. */
const coarse = computed(() => Math.floor(now.value / 10_000) * 10);

/** The beginning of the list under the filter that it was read for; undefined once all rows have come. */
const beginning = signal<(Pick<FirstRows, "count" | "counts"> & { readonly filter: string }) | undefined>(undefined);
const begun = computed(() => (beginning.value?.filter === place.value.query ? beginning.value : undefined));

export const query = computed(() => parse(place.value.query));
export const listed = computed(() => select(all.value, query.value, coarse.value));
/** The length of the list, of which only the beginning may have come. */
export const listedCount = computed(() => begun.value?.count ?? listed.value.length);
export const counts = computed(() => begun.value?.counts ?? countsOf(all.value, query.value, coarse.value));
export const serverNow = (): number => now.value + skew;

setInterval(() => {
  now.value = Date.now();
  if (link.value === "live" && Date.now() - heardAt.value > 12_000) link.value = "behind";
}, 1_000);

/** The place in the stream of changes that the rows have reached. */
export let id: string | undefined;
/** The tag of the rows that are shown. */
export let print = "";

/** The answer of a cache is as old as it says. */
export const ageOf = (answer: Response): number => Number(answer.headers.get("age") ?? 0) * 1_000;

export const takeFirst = (
  { now: at, columns, count, counts: byGroup }: FirstRows,
  filter: string,
  age: number,
): void => {
  skew = at + age - Date.now();
  for (const row of rowsOf(columns)) rows.set(keyOf(row), row);
  beginning.value = { count, counts: byGroup, filter };
  version.value += 1;
};

export const take = (batch: Batch, age = 0): void => {
  skew = batch.now + age - Date.now();
  id = batch.id;
  print = batch.print;
  if (batch.whole) rows.clear();
  for (const row of rowsOf(batch.columns)) rows.set(keyOf(row), row);
  for (const key of batch.gone) rows.delete(key);
  if (batch.queues !== undefined) queues.value = batch.queues;
  else if (batch.whole) queues.value = [];
  beginning.value = undefined;
  version.value += 1;
  isLoaded.value = true;
};

export const heard = (how: Link): void => {
  heardAt.value = Date.now();
  if (link.value !== how) link.value = how;
};

export const readHealth = async (): Promise<void> => {
  const answer = await fetch("/page/health").catch(() => undefined);
  if (answer?.ok === true) health.value = await answer.json();
};
