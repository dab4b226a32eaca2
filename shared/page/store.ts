/**
 * The state that all screens read: rows, queues, clocks, and what is known of the connection; the viewer's place,
 * which is the screen and the filter, both in the address, so that a link shows the same; and the application that is
 * shown: its detail, its pods, and the log in view, each read again when it has changed.
 */
import { computed, effect, signal } from "@preact/signals";
import type { Health } from "./health.ts";
import { canonical } from "./kinds.ts";
import { countsOf, parse, select } from "./query.ts";
import { withRecorded } from "./timeline.ts";
import {
  type Batch,
  type Costs,
  type Detail,
  type FirstRows,
  keyOf,
  type Lanes,
  type Log,
  type QueueRow,
  type Row,
  rowsOf,
} from "./wire.ts";

export const screens = ["overview", "applications", "queues", "schedules", "recovery", "health"] as const;
export type Screen = (typeof screens)[number] | "application";

export type Place = {
  readonly screen: Screen;
  readonly query: string;
  /** KIND/NAMESPACE/NAME of the application that is shown. */
  readonly application: string;
};

export const usualQuery = "since:24h";

const isScreen = (text: string | null): text is Screen => screens.some((one) => one === text) || text === "application";

const placeIn = (search: string): Place => {
  const given = new URLSearchParams(search);
  const screen = given.get("screen");
  const application = canonical(given.get("application") ?? "");
  const shown = application === "" ? "applications" : "application";
  return { screen: isScreen(screen) ? screen : shown, query: given.get("q") ?? usualQuery, application };
};

export const place = signal<Place>(placeIn(location.search));

const searchOf = ({ screen, query, application }: Place): string => {
  const given = new URLSearchParams();
  if (screen !== "applications") given.set("screen", screen);
  if (query !== usualQuery) given.set("q", query);
  if (screen === "application") given.set("application", application);
  const text = given.toString();
  return text === "" ? location.pathname : `${location.pathname}?${text}`;
};

/** The address of a place, for links. */
export const addressOf = (to: Partial<Place>): string => searchOf({ ...place.value, ...to });

export const go = (to: Partial<Place>): void => {
  const next = { ...place.value, ...to };
  history.pushState(undefined, "", searchOf(next));
  place.value = next;
};

/** Changes the filter without a new entry in the browser's history. */
export const refine = (query: string): void => {
  const next = { ...place.value, query };
  history.replaceState(undefined, "", searchOf(next));
  place.value = next;
};

addEventListener("popstate", () => {
  place.value = placeIn(location.search);
});

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

/** Hours and money by namespace and day; undefined until they have come. */
export const costs = signal<Costs | undefined>(undefined);

const readCosts = async (): Promise<void> => {
  const answer = await fetch("/page/costs").catch(() => undefined);
  if (answer?.ok === true) costs.value = await answer.json();
};

effect(() => {
  if (place.value.screen === "overview" && isLoaded.value) void readCosts();
});

const costsMs = 60_000;

setInterval(() => {
  const isSeen = place.value.screen === "overview" && document.visibilityState === "visible";
  if (isSeen && link.value !== "signed out") void readCosts();
}, costsMs);

/** One application; `missing`: there is none of this name. */
export const detail = signal<Detail | "missing" | { readonly error: string } | undefined>(undefined);

export const isDetail = (value: typeof detail.value, key: string): value is Detail =>
  typeof value === "object" && !("error" in value) && keyOf(value) === key;

/** The detail that came last, with the newer of both timelines: answers may overtake each other. */
const newer = ({ lanes, lanesAt }: Lanes, found: Detail): Detail => {
  if (lanesAt <= found.lanesAt) return found;
  const recorded = found.lanes.filter(({ isRecorded }) => isRecorded === true);
  return {
    ...found,
    lanes: withRecorded(
      lanes.filter(({ isRecorded }) => isRecorded !== true),
      recorded,
    ),
    lanesAt,
  };
};

const pathOf = (application: string): string => application.split("/").map(encodeURIComponent).join("/");

let lanesReading = false;
let lanesAgain = false;

/** Reads the pods of the shown application alone: they are known before everything else is. */
export const readLanes = async (): Promise<void> => {
  lanesAgain = lanesReading;
  if (lanesReading) return;
  lanesReading = true;
  const { application } = place.value;
  const answer = await fetch(`/page/lanes/${pathOf(application)}`).catch(() => undefined);
  const found: Lanes | undefined = answer?.ok === true ? await answer.json().catch(() => undefined) : undefined;
  const shown = detail.value;
  if (found !== undefined && found.lanes.length > 0 && isDetail(shown, application)) detail.value = newer(found, shown);
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
export const refresh = (ms: number): void => {
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

/** The end of a log; undefined until it has come. */
export const log = signal<Log | undefined>(undefined);
/** The pod whose log is shown; "": the main one. */
export const logPod = signal("");
/** The attempt whose kept log is shown; 0: the log of a pod is. */
export const logAttempt = signal(0);
/** True while a log is in view: nothing reads it otherwise. */
export const isLogShown = signal(false);

const readLog = async (): Promise<void> => {
  const { application } = place.value;
  const [pod, attempt] = [logPod.value, logAttempt.value];
  const query = attempt === 0 ? `pod=${encodeURIComponent(pod)}` : `attempt=${attempt}`;
  const answer = await fetch(`/page/log/${pathOf(application)}?${query}`).catch(() => undefined);
  if (place.value.application !== application || logPod.value !== pod || logAttempt.value !== attempt) return;
  if (answer?.ok === true) log.value = await answer.json();
  else log.value = { pod, text: "", error: `the server answered ${answer?.status ?? "nothing"}` };
};

effect(() => {
  place.value.application;
  logPod.value = "";
  logAttempt.value = 0;
});

effect(() => {
  const { screen, application } = place.value;
  logPod.value;
  logAttempt.value;
  log.value = undefined;
  if (isLogShown.value && screen === "application" && application !== "") void readLog();
});

const logMs = 3_000;

setInterval(() => {
  const isSeen = isLogShown.value && place.value.screen === "application" && document.visibilityState === "visible";
  // A kept log stays as it is.
  const isRead = logAttempt.value !== 0 && log.value !== undefined;
  if (isSeen && !isRead && link.value !== "signed out") void readLog();
}, logMs);

/** A live page is read again every 5 s while it is visible: waits grow longer without a change of the cluster. */
setInterval(() => {
  if (document.visibilityState === "visible" && link.value === "live") refresh(0);
}, 5_000);
