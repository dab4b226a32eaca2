/**
 * Known continuations: how executions of a scenario went on from states in which no fault was left. An execution that
 * comes to such a state need not be run further, as it would go on in the same way. Only continuations without a
 * violation are kept. `--recheck` runs some of those that were left out, and compares.
 *
 * A state is known by its digest (`state-digest.ts`). The ids that the queue remembers to drop copies are compared apart
 * from it, and only those that the continuation sends: no other one has an effect.
 */
import type { Difference } from "./ending.ts";
import type { Execution } from "./execution.ts";
import type { Fault } from "./fault.ts";
import type { Journal, Post } from "./journal.ts";
import type { Scenario } from "./scenario.ts";
import type { Snapshot } from "./snapshot.ts";
import { type StateParts, stateDigest, stateParts } from "./state-digest.ts";

/** The end of an execution, as far as its judgement depends on it. */
export type Rest = {
  readonly violations: readonly string[];
  readonly differences: readonly Difference[];
  readonly noisy: readonly string[];
};

/** From a state to the end. */
export type Continuation = {
  readonly rest: Rest;
  readonly invocations: number;
  readonly lateChanges: number;
  readonly errors: readonly string[];
  readonly ms: number;
  /** The ids of all messages that the execution sent, in order, and the first of them after the state. */
  readonly sent: readonly string[];
  readonly from: number;
  /** Of the ids sent after the state, those that the queue remembered in it, and since when. */
  readonly remembered: ReadonlyMap<string, number>;
};

export type Continuations = {
  readonly parts: StateParts;
  readonly byState: Map<string, readonly Continuation[]>;
  /** Executions so far, and those that ended with a known continuation. */
  executions: number;
  taken: number;
};

export const openContinuations = (parts: StateParts = stateParts): Continuations => ({
  ...{ parts, byState: new Map() },
  ...{ executions: 0, taken: 0 },
});

/** A digest costs a tenth of a case. Where too few end with a known continuation after some executions, none is sought. */
const trial = 150;
const leastShare = 0.25;

const isWorthwhile = ({ executions, taken }: Continuations): boolean =>
  executions < trial || taken >= executions * leastShare;

/** The time for which the queue remembers an id, as `adapters/embedded/queue.ts` has it. */
const dedupeMs = 300_000;

type Sent = { readonly id: string; readonly at: number };

const sentIn = (journal: Journal): readonly Sent[] =>
  journal.flatMap((entry) => (entry.do === "send" || entry.do === "later" ? [entry] : []));

/** The ids that the queue remembers at a time. */
const rememberedAt = (sent: readonly Sent[], now: number): ReadonlyMap<string, number> => {
  const since = new Map<string, number>();
  for (const { id, at } of sent) {
    const first = since.get(id);
    if (first === undefined || first + dedupeMs <= at) since.set(id, at);
  }
  return new Map([...since].filter(([, at]) => at + dedupeMs > now));
};

/** A state that an execution passed. */
type Passed = {
  readonly digest: string;
  readonly from: number;
  readonly now: number;
  readonly invocations: number;
  readonly lateChanges: number;
  readonly errors: number;
};

const placeIn = (execution: Execution): Omit<Passed, "digest"> => ({
  from: sentIn(execution.post.journal()).length,
  now: execution.now(),
  invocations: execution.count.invocations,
  lateChanges: execution.lateChanges,
  errors: execution.errors.length,
});

const isSame = (one: Continuation, remembered: ReadonlyMap<string, number>): boolean =>
  one.sent.slice(one.from).every((id) => one.remembered.get(id) === remembered.get(id));

/** An execution at its end, or at the state whose continuation it takes. */
type Ended = {
  readonly at: Omit<Passed, "digest">;
  readonly sent: readonly Sent[];
  readonly ids: readonly string[];
  readonly errors: readonly string[];
};

const continuationFrom = (
  { from, now, invocations, lateChanges, errors }: Passed,
  { at, sent, ids, errors: all }: Ended,
  found: Continuation | undefined,
  rest: Rest,
): Continuation => {
  const remembered = rememberedAt(sent.slice(0, from), now);
  const later = new Set(ids.slice(from));
  return {
    ...{ rest, sent: ids, from },
    invocations: at.invocations - invocations + (found?.invocations ?? 0),
    lateChanges: at.lateChanges - lateChanges + (found?.lateChanges ?? 0),
    errors: [...all.slice(errors), ...(found?.errors ?? [])],
    ms: at.now - now + (found?.ms ?? 0),
    remembered: new Map([...remembered].filter(([id]) => later.has(id))),
  };
};

/** Bounds of an execution whose continuation is taken from another one. */
const most: { readonly invocations: number; readonly ms: number } = { invocations: 400, ms: 3_600_000 * 4 };

const isWithin = (execution: Execution, began: number, { invocations, ms }: Continuation): boolean =>
  execution.count.invocations - execution.began + invocations <= most.invocations &&
  execution.now() - began + ms <= most.ms;

/** Hosts remember, functions of a dispatcher outlive it, and a look for other controllers is no event: not digested. */
export const isDigested = ({ hosted, dispatched, beside }: Scenario): boolean =>
  (hosted ?? dispatched ?? beside) === undefined;

/** Whether a known continuation is to be sought for an execution of the scenario. */
export const isSought = (continuations: Continuations, scenario: Scenario): boolean =>
  isDigested(scenario) && isWorthwhile(continuations);

/** A state after the first faults of a case, from which cases with one more fault fork. */
export type Fork = {
  readonly snapshot: Snapshot;
  readonly digest: string;
  /** The ids that the queue remembers. */
  readonly remembered: ReadonlyMap<string, number>;
  readonly lateChanges: number;
  readonly errors: readonly string[];
};

/** A fork, and the fault that is to come: another case with the same key is the same case from there on. */
export type Forked = { readonly fork: Fork; readonly key: string };

const forkOf = (execution: Execution, digest: string): Fork => ({
  snapshot: execution.snapshot(),
  digest,
  remembered: rememberedAt(sentIn(execution.post.journal()), execution.now()),
  lateChanges: execution.lateChanges,
  errors: [...execution.errors],
});

/** The known continuation of a fork with a fault to come. */
export const continuationOf = ({ byState }: Continuations, { fork, key }: Forked): Continuation | undefined =>
  byState.get(key)?.find((one) => isSame(one, fork.remembered));

/** The part of a recognition that cases with one more fault need. */
export type RecognitionOptions = {
  readonly forked?: Forked | undefined;
  /** The execution hands on its states before this call, and takes no known continuation until then. */
  readonly forks?: { readonly until: number; readonly add: (fork: Fork) => void } | undefined;
};

export type Recognition = {
  readonly found: () => Continuation | undefined;
  /** Ends the recognition with the execution; the disturbance of its end is no part of it. */
  readonly end: () => void;
  /** Keeps how the execution went on from each state that it passed. */
  readonly keep: (rest: Rest) => void;
};

/** Lets an execution end at the first state whose continuation is known, once its fault is spent. */
export const recognise = (
  continuations: Continuations,
  execution: Execution,
  fault: Fault,
  { forked, forks }: RecognitionOptions = {},
): Recognition => {
  const { parts, byState } = continuations;
  continuations.executions += 1;
  const passed: Passed[] = [];
  const began = execution.now();
  let found: Continuation | undefined;
  let ended: Ended | undefined;
  let { post }: { post: Post } = execution;
  const pass = (digest: string): void => void passed.push({ digest, ...placeIn(execution) });
  /** Hands on a state from which others fork; false once it is too late for them. */
  const forksAt = (digest: string): boolean => {
    if (forks === undefined || execution.count.calls >= forks.until) return false;
    forks.add(forkOf(execution, digest));
    return true;
  };
  const seek = (digest: string): Continuation | undefined => {
    const known = byState.get(digest) ?? [];
    if (known.length === 0) return undefined;
    const remembered = rememberedAt(sentIn(execution.post.journal()), execution.now());
    return known.find((one) => isSame(one, remembered) && isWithin(execution, began, one));
  };
  if (forked !== undefined) pass(forked.key);
  execution.recognises = () => {
    if (found !== undefined) return true;
    if (fault.spent?.(execution.now()) !== true || !execution.mail.isEmpty()) return false;
    if (post !== execution.post) passed.length = 0;
    ({ post } = execution);
    const digest = stateDigest(execution, parts);
    if (!forksAt(digest)) found = seek(digest);
    if (found === undefined) pass(digest);
    else continuations.taken += 1;
    return found !== undefined;
  };
  return {
    found: () => found,
    end: () => {
      execution.recognises = undefined;
      const sent = sentIn(execution.post.journal());
      const ids = [...sent.map(({ id }) => id), ...(found?.sent.slice(found.from) ?? [])];
      if (post === execution.post) ended = { at: placeIn(execution), sent, ids, errors: [...execution.errors] };
    },
    keep: (rest) => {
      if (ended === undefined || rest.violations.length > 0 || rest.noisy.length > 0) return;
      for (const one of passed) {
        const continuation = continuationFrom(one, ended, found, rest);
        byState.set(one.digest, [...(byState.get(one.digest) ?? []), continuation]);
      }
    },
  };
};
