/** How the page hears of changes: by a stream, by polling where there is none, after sign-in. */
import { signal } from "@preact/signals";
import type { WaysToSignIn } from "./answers.ts";
import {
  ageOf,
  detail,
  heard,
  id,
  isDetail,
  link,
  place,
  print,
  readHealth,
  readLanes,
  refresh,
  refused,
  take,
  takeFirst,
} from "./store.ts";
import type { Batch } from "./wire.ts";

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
    void leave();
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
    if (status === 401) void leave();
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

/** Follows the cluster until the viewer has to sign in. */
export const follow = async (): Promise<void> => {
  link.value = "starting";
  void readHealth();
  do {
    await visible();
    await once();
  } while (!isSignedOut());
};

/** The ways to sign in that this server has. */
export const ways = signal<WaysToSignIn>({ token: "", provider: "" });

/** Offers the ways to sign in. */
const leave = async (): Promise<void> => {
  link.value = "signed out";
  ways.value = await (await fetch("/page/session")).json();
};

/** Ends the session. A provider may then ask whether its own session ends, too. */
export const signOut = async (): Promise<void> => {
  const answer = await fetch("/page/session", { method: "DELETE" });
  if (answer.ok) location.href = (await answer.json()).to;
};

/** Trades a token for a session, and follows. */
export const signIn = async (token: string): Promise<void> => {
  refused.value = "";
  const answer = await fetch("/page/session", { method: "POST", headers: { authorization: `Bearer ${token}` } });
  if (answer.ok) return void follow();
  const { error = "refused" }: { readonly error?: string } = await answer.json().catch(() => ({}));
  refused.value = answer.status === 401 && error.startsWith("unauthorized") ? "no caller has this token" : error;
  void leave();
};
