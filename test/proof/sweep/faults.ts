/** The catalogue of faults: each by name, as a function of its point. */
import type { HttpRequest } from "../../../shared/core/http.ts";
import type { Call, Fate, Fault, Hearing, Posted, RingFault, Verdict } from "./fault.ts";
import { placeOf, type Refusing, refusal } from "./fault-answers.ts";
import type { Rung } from "./rings.ts";

/** A fault that happens once, at the n-th call. */
export const atCall = (n: number, verdictFor: (call: Call) => Verdict): Fault => {
  let fired = false;
  return {
    call: (call) => {
      if (call.n !== n) return undefined;
      fired = true;
      return verdictFor(call);
    },
    fired: () => fired,
    spent: () => fired,
  };
};

export const atMessage = (n: number, fate: Fate): Fault => {
  let fired = false;
  return {
    message: (posted: Posted) => {
      if (posted.n !== n) return undefined;
      fired = true;
      return fate;
    },
    fired: () => fired,
    spent: () => fired,
  };
};

/** Faults of rings, by name; `isFor`: the rings of a run without a fault that it strikes. */
export const ringFaults: readonly {
  readonly name: string;
  readonly does: RingFault;
  readonly isFor: (rung: Rung) => boolean;
}[] = [
  { name: "ring-lost", does: { do: "lose" }, isFor: () => true },
  { name: "ring-late", does: { do: "late", ms: 4_000 }, isFor: () => true },
  { name: "ring-again", does: { do: "repeat" }, isFor: () => true },
  { name: "ring-refused", does: { do: "deceive" }, isFor: () => true },
  { name: "ring-early-400ms", does: { do: "hide", ms: 400 }, isFor: ({ isForeign }) => isForeign },
  // A change that is stored later than the second message of its ring, of which the first was dropped, is a resync's to find.
  { name: "ring-early-3s", does: { do: "hide", ms: 3_000 }, isFor: ({ isForeign, isFresh }) => isForeign && isFresh },
];

const ringNames: ReadonlySet<string> = new Set(ringFaults.map(({ name }) => name));

/** True for a fault of a ring. */
export const isRingFault = (family: string): boolean => ringNames.has(family);

export const atRing = (n: number, does: RingFault): Fault => {
  let fired = false;
  return {
    ring: (at) => {
      if (at !== n) return undefined;
      fired = true;
      return does;
    },
    fired: () => fired,
    spent: () => fired,
  };
};

/** A broken watch begins again after this time at the latest. */
const longestGapMs = 20_000;

/** The events from the first to the last are not delivered; `relistMs` after the last, the watch lists anew. */
export const deafDuring = (first: number, last: number, relistMs: number | undefined): Fault => {
  let since: number | undefined;
  let heard = 0;
  const miss = (): Hearing => (relistMs === undefined ? "missed" : "broken");
  return {
    event: (n, { relist, now }) => {
      heard = n;
      if (n < first || n > last || (since !== undefined && now() - since >= longestGapMs)) return "told";
      if (relistMs !== undefined && since === undefined) relist(longestGapMs);
      if (relistMs !== undefined && n === last) relist(relistMs);
      since ??= now();
      return miss();
    },
    fired: () => since !== undefined,
    spent: (now) => since !== undefined && (heard >= last || now - since >= longestGapMs),
  };
};

/** A forwarder that is called once a minute, and the length of a window in which something has happened, ms. */
const calledEveryMs = 60_000;
const windowMs = 50_000;

/**
 * The forwarder runs in windows: each minute it looks, and only if something has happened since does it go on until the
 * window's end. Events between windows reach it by a list at the next one.
 */
export const windowed = (): Fault => {
  let begins = Number.NEGATIVE_INFINITY;
  let missed = false;
  return {
    event: (_, { relist, now }) => {
      const at = now();
      if (at >= begins && at < begins + windowMs) return "told";
      if (begins < at) {
        begins = (Math.floor(at / calledEveryMs) + 1) * calledEveryMs;
        relist(begins - at);
      }
      missed = true;
      return "broken";
    },
    fired: () => missed,
  };
};

export type Named = {
  readonly name: string;
  readonly applies: (call: Call) => boolean;
  readonly verdict: (call: Call) => Verdict;
};

const always = (): boolean => true;
const isApi = ({ via }: Call): boolean => via === "api";
const isWrite = (call: Call): boolean => isApi(call) && call.write;
const requestOf = (call: Call): HttpRequest =>
  call.request ?? { method: "GET", path: "/", headers: {}, timeoutMs: 5_000 };
const isNamed = (call: Call): boolean => isApi(call) && placeOf(requestOf(call).path).name !== undefined;
const isCreate = (call: Call): boolean => isApi(call) && requestOf(call).method === "POST";

const answers =
  (refusing: Refusing) =>
  (call: Call): Verdict => ({
    do: "answer",
    response: (now) => refusal(requestOf(call), refusing, now),
  });

const breaks = (effect: boolean, afterMs: number, reason: string) => (): Verdict => ({
  do: "break",
  effect,
  afterMs,
  reason,
});

/** A. The invocation dies, alone or with its host. */
export const deaths: readonly Named[] = [
  { name: "crash-before", applies: always, verdict: () => ({ do: "die", effect: false, host: false }) },
  { name: "crash-after", applies: always, verdict: () => ({ do: "die", effect: true, host: false }) },
  { name: "host-crash-before", applies: always, verdict: () => ({ do: "die", effect: false, host: true }) },
  { name: "host-crash-after", applies: always, verdict: () => ({ do: "die", effect: true, host: true }) },
];

const refusals: readonly (Named & { readonly applies: (call: Call) => boolean })[] = [
  {
    name: "409",
    code: 409,
    reason: "Conflict",
    message: "the object has been modified; please apply your changes to the latest version and try again",
  },
  { name: "409-exists", code: 409, reason: "AlreadyExists", message: "already exists", applies: isCreate },
  { name: "404", code: 404, reason: "NotFound", message: "the server could not find the requested resource" },
  { name: "404-named", code: 404, reason: "NotFound", message: "not found", applies: isNamed },
  { name: "410", code: 410, reason: "Expired", message: "The resourceVersion for the provided list is too old." },
  { name: "422", code: 422, reason: "Invalid", message: "is invalid" },
  { name: "403", code: 403, reason: "Forbidden", message: "forbidden: exceeded quota" },
  { name: "429", code: 429, reason: "TooManyRequests", message: "please try again later", retryAfter: 7 },
  { name: "500", code: 500, reason: "InternalError", message: "etcdserver: leader changed" },
  { name: "503", code: 503, reason: "ServiceUnavailable", message: "apiserver is shutting down" },
].map(({ name, applies = isApi, ...refusing }) => ({
  name,
  applies,
  verdict: answers({ ...refusing, ...(name === "404" ? { anonymous: true } : {}) }),
}));

const unavailable: Refusing = { code: 503, reason: "ServiceUnavailable", message: "apiserver is shutting down" };

/** B. The server refuses, or does not answer. */
export const troubles: readonly Named[] = [
  ...refusals,
  { name: "timeout", applies: isApi, verdict: breaks(false, 5_000, "Timeout") },
  { name: "timeout-applied", applies: isWrite, verdict: breaks(true, 5_000, "Timeout") },
  { name: "reset", applies: isApi, verdict: breaks(false, 0, "Unreachable") },
  { name: "reset-applied", applies: isWrite, verdict: breaks(true, 0, "Unreachable") },
  { name: "queue-away", applies: ({ what }) => what === "send" || what === "later", verdict: breaks(false, 0, "") },
  { name: "queue-mute", applies: ({ what }) => what === "send" || what === "later", verdict: breaks(true, 0, "") },
];

const isCall =
  (point: "call" | "answer") =>
  ({ via, what }: Call): boolean =>
    via === "dispatcher" && what === point;
const isWriteOfCalled = (call: Call): boolean => isWrite(call) && call.called;

/**
 * B, between a dispatcher and its functions: the platform refuses a call; the connection breaks, and the function works
 * on; the call arrives ten minutes later, or encloses what it should not; an answer is lost with its messages; another dispatcher begins beside the first, because a lease was lost.
 */
export const callTroubles: readonly Named[] = [
  { name: "call-refused", applies: isCall("call"), verdict: answers(unavailable) },
  { name: "call-cut", applies: isCall("call"), verdict: breaks(true, 0, "") },
  {
    name: "call-late",
    applies: isCall("call"),
    verdict: () => ({ do: "hold", when: "before", until: { afterMs: 600_000 }, freeMs: 0 }),
  },
  { name: "enclosure-old", applies: isCall("call"), verdict: () => ({ do: "enclose", what: "old" }) },
  { name: "enclosure-of-another", applies: isCall("call"), verdict: () => ({ do: "enclose", what: "another" }) },
  { name: "answer-lost", applies: isCall("answer"), verdict: breaks(false, 0, "") },
  {
    name: "two-dispatchers-5s",
    applies: isWriteOfCalled,
    verdict: () => ({ do: "rival", when: "before", afterMs: 4_900 }),
  },
  {
    name: "two-dispatchers-1m",
    applies: isWriteOfCalled,
    verdict: () => ({ do: "rival", when: "after", afterMs: 59_000 }),
  },
];

const isTelling = ({ via }: Call): boolean => via === "listener";

/** B, at a listener: it fails, or is silent; or it acknowledges, and the answer is lost. */
export const deafness: readonly Named[] = [
  {
    name: "listener-500",
    applies: isTelling,
    verdict: answers({ code: 500, reason: "InternalError", message: "it fails" }),
  },
  { name: "listener-away", applies: isTelling, verdict: breaks(false, 2_000, "") },
  { name: "listener-mute", applies: isTelling, verdict: breaks(true, 2_000, "") },
];

type Outage = {
  readonly name: string;
  readonly lastsMs: number;
  readonly hits: (call: Call) => boolean;
  readonly refusing: Refusing;
};

/** B, for longer: from one call on, the same answer to all calls of a kind for a time. */
export const outages: readonly Outage[] = [
  { name: "outage-60s", lastsMs: 60_000, hits: isApi, refusing: unavailable },
  { name: "outage-20m", lastsMs: 1_200_000, hits: isApi, refusing: unavailable },
  {
    name: "read-only-5m",
    lastsMs: 300_000,
    hits: isWrite,
    refusing: { code: 500, reason: "InternalError", message: "etcdserver: no space" },
  },
  {
    name: "quota-5m",
    lastsMs: 300_000,
    hits: ({ what }) => what === "POST pods",
    refusing: { code: 403, reason: "Forbidden", message: "exceeded quota: compute" },
  },
];

export const outage = (n: number, { lastsMs, hits, refusing }: Outage): Fault => {
  let since: number | undefined;
  return {
    call: (call, { now }) => {
      if (call.n === n) since = now();
      if (since === undefined || now() - since > lastsMs || !hits(call)) return undefined;
      return answers(refusing)(call);
    },
    fired: () => since !== undefined,
    spent: (now) => since !== undefined && now - since > lastsMs,
  };
};

/** C. The fate of a message. */
export const fates: readonly { readonly name: string; readonly fate: Fate }[] = [
  { name: "message-twice", fate: { do: "repeat", ms: 0 } },
  { name: "message-again", fate: { do: "repeat", ms: 1_000 } },
  { name: "message-again-late", fate: { do: "repeat", ms: 420_000 } },
  { name: "message-late", fate: { do: "delay", ms: 60_000 } },
  { name: "message-very-late", fate: { do: "delay", ms: 840_000 } },
  { name: "message-lost", fate: { do: "lose" } },
  { name: "message-swapped", fate: { do: "swap" } },
];

export const stale = (back: number) => (): Verdict => ({ do: "stale", back });

/** D. The invocation waits while others take its messages. */
export const pauses: readonly Named[] = [
  ...[5, 12, 600].map(
    (seconds): Named => ({
      name: `pause-${seconds}s`,
      applies: always,
      verdict: () => ({ do: "hold", when: "after", until: { afterMs: seconds * 1_000 }, freeMs: 0 }),
    }),
  ),
  {
    name: "slow",
    applies: always,
    verdict: () => ({ do: "hold", when: "before", until: { afterMs: 4_900 }, freeMs: 0 }),
  },
  {
    name: "frozen",
    applies: (call) => !isCreate(call) && !isTelling(call),
    verdict: () => ({ do: "hold", when: "before", until: { afterMs: 600_000 }, freeMs: 0 }),
  },
];

/**
 * The first invocation waits at its i-th call. After `freeMs` the second runs to its j-th, waits for the end of the
 * first, and goes on.
 */
export const pair = (i: number, j: number, freeMs = 0): Fault & { readonly met: () => boolean } => {
  let first: number | undefined;
  let by: Call["by"] | undefined;
  let second: number | undefined;
  let held: number | undefined;
  let seen = 0;
  return {
    call: (call, levers) => {
      if (call.n === i) {
        ({ invocation: first, by } = call);
        return { do: "hold", when: "before", until: "released", freeMs };
      }
      if (first === undefined || call.by !== by || call.invocation === first || held !== undefined) return undefined;
      second ??= call.invocation;
      if (call.invocation !== second) return undefined;
      seen += 1;
      if (seen !== j) return undefined;
      held = call.n;
      levers.release(i);
      return { do: "hold", when: "before", until: "released" };
    },
    ended: (invocation, levers) => {
      if (invocation === first && held !== undefined) levers.release(held);
      if (invocation === second) levers.release(i);
    },
    fired: () => first !== undefined,
    met: () => held !== undefined,
    spent: () => held !== undefined,
  };
};

/** A write is under way during this many more calls, at most until its sender's timeout. */
export const late = (n: number, calls: number): Fault => atCall(n, () => ({ do: "late", calls, free: true }));

/** The winner of a save gets the answer just within its fence, and then its next write of this kind is late. */
export const lateWinner = (save: number, what: string, calls: number): Fault & { readonly met: () => boolean } => {
  let invocation: number | undefined;
  let met = false;
  return {
    call: (call) => {
      if (call.n === save) {
        invocation = call.invocation;
        return { do: "hold", when: "after", until: { afterMs: 9_500 }, freeMs: 0 };
      }
      if (met || call.invocation !== invocation || call.what !== what) return undefined;
      met = true;
      return { do: "late", calls, free: false };
    },
    fired: () => invocation !== undefined,
    met: () => met,
    spent: () => met,
  };
};
