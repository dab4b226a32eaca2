/** The state that all screens read: rows, queues, the shown application, and how the page hears of changes. */
import { computed, effect, signal } from "@preact/signals";
import { place } from "./place.ts";
import { countsOf, parse, select } from "./query.ts";
import {
  type Batch,
  type Detail,
  type FirstRows,
  type Health,
  keyOf,
  type Lanes,
  type QueueRow,
  type Row,
  rowsOf,
} from "./wire.ts";

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

let id: string | undefined;
/** The tag of the rows that are shown. */
let print = "";

/** The answer of a cache is as old as it says. */
const ageOf = (answer: Response): number => Number(answer.headers.get("age") ?? 0) * 1_000;

const takeFirst = ({ now: at, columns, count, counts: byGroup }: FirstRows, filter: string, age: number): void => {
  skew = at + age - Date.now();
  for (const row of rowsOf(columns)) rows.set(keyOf(row), row);
  beginning.value = { count, counts: byGroup, filter };
  version.value += 1;
};

const take = (batch: Batch, age = 0): void => {
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

const heard = (how: Link): void => {
  heardAt.value = Date.now();
  if (link.value !== how) link.value = how;
};

/** One application; `missing`: there is none of this name. */
export const detail = signal<Detail | "missing" | { readonly error: string } | undefined>(undefined);

const isDetail = (value: typeof detail.value, key: string): value is Detail =>
  typeof value === "object" && !("error" in value) && keyOf(value) === key;

/** The detail that came last, with the newer of both timelines: answers may overtake each other. */
const newer = ({ lanes, lanesAt }: Lanes, found: Detail): Detail =>
  lanesAt > found.lanesAt ? { ...found, lanes, lanesAt } : found;

const pathOf = (application: string): string => application.split("/").map(encodeURIComponent).join("/");

let lanesReading = false;
let lanesAgain = false;

/** Reads the pods of the shown application alone: they are known before everything else is. */
const readLanes = async (): Promise<void> => {
  lanesAgain = lanesReading;
  if (lanesReading) return;
  lanesReading = true;
  const { application } = place.value;
  const answer = await fetch(`/page/lanes/${pathOf(application)}`).catch(() => undefined);
  const found: Lanes | undefined = answer?.ok === true ? await answer.json().catch(() => undefined) : undefined;
  const shown = detail.value;
  if (found !== undefined && found.lanes.length > 0 && isDetail(shown, application) && found.lanesAt > shown.lanesAt)
    detail.value = { ...shown, ...found };
  lanesReading = false;
  if (lanesAgain) void readLanes();
};

let reading = 0;

const readDetail = async (): Promise<void> => {
  const { screen, application } = place.value;
  if (screen !== "application") return;
  const turn = ++reading;
  const answer = await fetch(`/page/app/${pathOf(application)}`).catch(() => undefined);
  if (turn !== reading || answer === undefined) return;
  if (answer.status === 404) detail.value = "missing";
  else if (answer.ok) {
    const found: Detail = await answer.json();
    const shown = detail.value;
    if (turn === reading) detail.value = isDetail(shown, application) ? newer(shown, found) : found;
  } else if (!isDetail(detail.value, application)) detail.value = { error: `the server answered ${answer.status}` };
};

let soon: number | undefined;

/** Reads the shown application again; several changes within a moment are one read. */
const refresh = (ms: number): void => {
  if (soon !== undefined) return;
  soon = window.setTimeout(() => {
    soon = undefined;
    void readDetail();
  }, ms);
};

effect(() => {
  const { screen, application } = place.value;
  if (screen !== "application") return;
  if (!isDetail(detail.peek(), application)) detail.value = undefined;
  void readDetail();
});

/** A live page is read again every 5 s while it is visible: waits grow longer without a change of the cluster. */
setInterval(() => {
  if (document.visibilityState === "visible" && link.value === "live") refresh(0);
}, 5_000);

type Message = { readonly event: string; readonly data: string };

const messageIn = (block: string): Message => {
  const fields = block
    .split("\n")
    .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()] as const);
  const of = (name: string): string =>
    fields
      .filter(([field]) => field === name)
      .map(([, value]) => value)
      .join("\n");
  return { event: of("event"), data: of("data") };
};

const receive = ({ event, data }: Message): void => {
  heard("live");
  if (event === "rows") {
    const batch: Batch = JSON.parse(data);
    take(batch);
  }
  if (event === "app") {
    const applications: readonly string[] = JSON.parse(data);
    if (!applications.includes(place.value.application)) return;
    void readLanes();
    refresh(30);
  }
};

/** True: the server does not stream. */
let isPolled = false;

/** Reads the beginning of the list, where the list is shown. Returns the status of the answer. */
const readFirst = async (): Promise<number> => {
  const { screen, query: filter } = place.value;
  if (screen !== "applications") return 200;
  const answer = await fetch(`/page/rows?part=first&filter=${encodeURIComponent(filter)}`);
  if (answer.ok) takeFirst(await answer.json(), filter, ageOf(answer));
  return answer.status;
};

/**
 * Reads all rows once, compressed, so that the stream carries only changes: first those that a viewer sees. Returns the
 * status of the answer.
 */
const begin = async (): Promise<number> => {
  const first = await readFirst();
  if (first !== 200) return first;
  const answer = await fetch("/page/rows");
  if (answer.ok) {
    const batch: Batch = await answer.json();
    isPolled = batch.isPolled === true;
    take(batch, ageOf(answer));
  }
  return answer.status;
};

/** Reads the stream until it ends. Returns the status of the answer. */
const stream = async (signal: AbortSignal): Promise<number> => {
  const status = id === undefined ? await begin() : 200;
  if (status !== 200) return status;
  if (isPolled) {
    await pollFor(undefined);
    return 200;
  }
  const answer = await fetch("/page/stream", { signal, headers: id === undefined ? {} : { "last-event-id": id } });
  if (!answer.ok || answer.body === null) return answer.status;
  heard("live");
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return answer.status;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) receive(messageIn(block));
  }
};

/** Asks once for changes. Returns true where there were some. */
const poll = async (): Promise<boolean> => {
  const path = id === undefined ? "/page/changes" : `/page/changes?since=${id}`;
  const answer = await fetch(path, id === undefined ? {} : { headers: { "if-none-match": `"${print}"` } });
  if (answer.status === 401) {
    link.value = "signed out";
    return false;
  }
  if (answer.status === 304) {
    heard("polling");
    return false;
  }
  if (!answer.ok) return false;
  heard("polling");
  take(await answer.json());
  return true;
};

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isSignedOut = (): boolean => link.value === "signed out";

const quickMs = 2_000;
const calmMs = 10_000;
const hiddenMs = 60_000;
/** The page polls quickly for this time after a change, ms, and while an application is open that is not over. */
const lively = 60_000;

const isOpen = (): boolean => {
  const shown = detail.value;
  return place.value.screen === "application" && !(isDetail(shown, place.value.application) && shown.isOver);
};

let changedAt = 0;

export const pollMs = signal(quickMs);

/** The time until the next poll; a tab that comes into view polls at once. */
const untilPoll = async (): Promise<void> => {
  const isHidden = document.visibilityState === "hidden";
  pollMs.value = isHidden ? hiddenMs : Date.now() - changedAt < lively || isOpen() ? quickMs : calmMs;
  await Promise.race([sleep(pollMs.value), isHidden ? visible() : opened()]);
};

/** Polls for `ms`; undefined: until the viewer has to sign in. */
const pollFor = async (ms: number | undefined): Promise<void> => {
  changedAt = Date.now();
  for (const end = changedAt + (ms ?? Number.POSITIVE_INFINITY); Date.now() < end && !isSignedOut(); ) {
    const isChanged = await poll().catch(() => {
      link.value = "behind";
      return false;
    });
    if (isChanged) changedAt = Date.now();
    refresh(30);
    if (!isSignedOut()) await untilPoll();
  }
};

let failures = 0;

/** Resolves when another place is opened. */
const opened = (): Promise<void> =>
  new Promise((resolve) => {
    const from = place.peek();
    const stop = place.subscribe((to) => {
      if (to === from) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });

const visible = (): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    look();
  });

/** A tab that has been hidden for a minute holds no stream. */
const untilHidden = (): AbortController => {
  const stop = new AbortController();
  let timer: number | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") timer = window.setTimeout(() => stop.abort(), 60_000);
  };
  document.addEventListener("visibilitychange", look);
  stop.signal.addEventListener("abort", () => document.removeEventListener("visibilitychange", look));
  return stop;
};

const once = async (): Promise<void> => {
  const stop = untilHidden();
  try {
    const status = await stream(stop.signal);
    if (status === 401) link.value = "signed out";
    else if (status === 503) await pollFor(30_000);
    else if (status === 200) failures = 0;
    else throw new Error(`the stream was answered with ${status}`);
  } catch {
    if (!stop.signal.aborted) {
      link.value = "behind";
      failures += 1;
      await sleep(Math.min(10_000, 500 * 2 ** Math.min(failures, 5)) * (0.5 + Math.random() / 2));
    }
  } finally {
    stop.abort();
  }
};

export const readHealth = async (): Promise<void> => {
  const answer = await fetch("/page/health").catch(() => undefined);
  if (answer?.ok === true) health.value = await answer.json();
};

/** Follows the cluster until the viewer has to sign in. */
export const follow = async (): Promise<void> => {
  link.value = "starting";
  void readHealth();
  do {
    await visible();
    await once();
  } while (!isSignedOut());
};

/** Trades a token for a session, and follows. */
export const signIn = async (token: string): Promise<void> => {
  refused.value = "";
  const answer = await fetch("/page/session", { method: "POST", headers: { authorization: `Bearer ${token}` } });
  if (answer.ok) return void follow();
  const { error = "refused" }: { readonly error?: string } = await answer.json().catch(() => ({}));
  refused.value = answer.status === 401 ? "no caller has this token" : error;
  link.value = "signed out";
};
