/** One trial: a namespace, the user's steps with one fault, rest, the rows, deletion, and what is left. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../real/cluster/api.ts";
import type { Controller } from "./controller.ts";
import type { Fault } from "./faults.ts";
import { leftIn, type Problem, problemsAtRest, type Rest } from "./oracle.ts";
import type { Scenario, Subject, User } from "./subject.ts";
import { isDeleted, phaseOf } from "./values.ts";
import type { History, World } from "./world.ts";

export type Bench = { readonly world: World; readonly subject: Subject; readonly controller: Controller };

export type Trial = {
  readonly problems: readonly Problem[];
  readonly end: string;
  /** False if the run never came to the fault's point. */
  readonly hasFired: boolean;
  readonly seconds: number;
  /** The longest time between two points before rest. */
  readonly longestGapMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly log: readonly string[];
};

/**
 * Rest is `restMs` without a write; a run in a wrong end, or with an untrue status, gets `stuckMs`; and all is given up after `mostMs`. On a machine
 * that took long in the runs without fault, both are longer.
 */
export type Pace = { readonly stuckMs: number; readonly mostMs: number };

const restMs = 4_000;
const usual: Pace = { stuckMs: 20_000, mostMs: 75_000 };
/** Of runs without fault, which show how fast the machine is. */
const patient: Pace = { stuckMs: 60_000, mostMs: 300_000 };

export const paceOf = (trials: readonly Pick<Trial, "seconds" | "longestGapMs">[]): Pace => ({
  stuckMs: Math.max(usual.stuckMs, ...trials.map(({ longestGapMs }) => 2 * longestGapMs)),
  mostMs: Math.max(usual.mostMs, ...trials.map(({ seconds }) => 3_000 * seconds)),
});

const failed = (what: string, reply: { status: number; body: unknown }): Error =>
  new Error(`${what}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 300)}`);

/** Deletes dependents, too: without it, the API server leaves the pods of a batch/v1 Job. */
const asKubectl = { propagationPolicy: "Background" };

type Waiting = { readonly bench: Bench; readonly namespace: string; readonly untilMs: number };

const quietFor = ({ bench, namespace }: Waiting, sinceMs: number): number => {
  if (!bench.controller.isReady()) return 0;
  const lastWrite = bench.world.points.placeOf(namespace)?.lastWriteMs ?? 0;
  return performance.now() - Math.max(lastWrite, sinceMs);
};

/** Waits until no write has followed for the time that `neededMs` says; false if `isOver` or the trial's time is over before. */
const untilRest = async (
  waiting: Waiting,
  neededMs: () => Promise<number>,
  isOver: () => boolean = () => false,
): Promise<boolean> => {
  let sinceMs = performance.now();
  while (performance.now() < waiting.untilMs && !isOver()) {
    if (!waiting.bench.controller.isReady()) sinceMs = performance.now();
    const quiet = quietFor(waiting, sinceMs);
    if (quiet > restMs && quiet > (await neededMs())) return true;
    await sleep(50);
  }
  return false;
};

const userOf = (api: Api, { bench, namespace }: Omit<Waiting, "untilMs">, history: History, pace: Pace): User => ({
  namespace,
  create: async (object) => {
    const { path, ...body } = { path: "", ...object };
    const reply = await api.call("POST", `/${path}`, body);
    if (reply.status !== 201) throw failed(`create ${path}`, reply);
  },
  get: async (path) => (await api.call("GET", `/${path}`)).body,
  patch: async (path, body) => {
    const reply = await api.call("PATCH", `/${path}`, body, "application/merge-patch+json");
    if (reply.status !== 200) throw failed(`patch ${path}`, reply);
  },
  remove: async (path, isForced = false) => {
    const reply = await api.call("DELETE", `/${path}`, isForced ? { ...asKubectl, gracePeriodSeconds: 0 } : asKubectl);
    if (reply.status >= 300 && reply.status !== 404) throw failed(`delete ${path}`, reply);
  },
  pods: async (phase, count) => {
    const seen = (): boolean => [...history.pods.values()].filter(({ pod }) => phaseOf(pod) === phase).length >= count;
    // Pods that do not come are waited for as long as a controller that does nothing.
    const waiting = { bench, namespace, untilMs: performance.now() + pace.mostMs / 2 };
    await untilRest(waiting, async () => pace.stuckMs, seen);
  },
});

const enterNamespace = async (api: Api, namespace: string): Promise<void> => {
  await api.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await api.until(`/api/v1/namespaces/${namespace}/serviceaccounts/default`, ({ status }) => status === 200, 20_000);
};

const observe = async (
  { bench, namespace }: Waiting,
  scenario: Scenario,
  history: History,
): Promise<Omit<Rest, "isAtRest">> => {
  const reply = await bench.world.plane.api.call("GET", `/${scenario.object(namespace)}`);
  const object = reply.status === 200 ? reply.body : undefined;
  return { object, end: bench.subject.rows.endOf(object, history) };
};

/** Deletes the user's objects. Something is an orphan if it is left after a controller at work has done nothing for `stuckMs`. */
const removedCleanly = async (
  { bench, namespace }: Omit<Waiting, "untilMs">,
  scenario: Scenario,
  { stuckMs, mostMs }: Pace,
): Promise<readonly Problem[]> => {
  const { api } = bench.world.plane;
  const paths = [scenario.object(namespace), ...(scenario.beside?.(namespace) ?? [])];
  for (const path of paths) await api.call("DELETE", `/${path}`, asKubectl);
  const left = (): Promise<readonly string[]> => leftIn(api, namespace, bench.subject.rows.leftovers);
  const waiting = { bench, namespace, untilMs: performance.now() + mostMs };
  let found = await left();
  for (let sinceMs = performance.now(); found.length > 0; found = await left()) {
    if (!bench.controller.isReady()) sinceMs = performance.now();
    if (quietFor(waiting, sinceMs) > stuckMs || performance.now() > waiting.untilMs)
      return [{ row: "orphan", text: `left after the deletion: ${found.join(", ")}` }];
    await sleep(250);
  }
  return [];
};

type Expected = { readonly fault?: Fault; readonly ends?: ReadonlySet<string>; readonly pace?: Pace };

/** Runs one trial. Without `ends`, it is a run without fault, which finds them. */
export const runTrial = async (
  bench: Bench,
  scenario: Scenario,
  namespace: string,
  { fault, ends = new Set(), pace = patient }: Expected = {},
): Promise<Trial> => {
  const { world, subject } = bench;
  const { api } = world.plane;
  const beganMs = performance.now();
  const history = world.enter(namespace, { attemptOf: subject.rows.attemptOf, planOf: scenario.planOf });
  await enterNamespace(api, namespace);
  world.points.arm(namespace, fault);
  for (const step of scenario.steps) {
    world.pass(namespace, `user ${step.name}`);
    await step.does(userOf(api, { bench, namespace }, history, pace));
  }
  const waiting = { bench, namespace, untilMs: performance.now() + pace.mostMs };
  const neededMs = async (): Promise<number> => {
    const { object, end } = await observe(waiting, scenario, history);
    if (ends.size === 0) return subject.rows.isFinal(object) ? restMs * 2 : pace.stuckMs;
    // A status that is behind may still follow on a slow machine.
    const isTrue = object === undefined || subject.rows.untrue(object, history).length === 0;
    return ends.has(end) && isTrue ? restMs : pace.stuckMs;
  };
  const isAtRest = await untilRest(waiting, neededMs);
  const rest = { ...(await observe(waiting, scenario, history)), isAtRest };
  const longestGapMs = world.points.placeOf(namespace)?.longestGapMs ?? 0;
  const problems = problemsAtRest(subject.rows, history, rest, ends);
  const atDeletion = isDeleted(rest.object) ? [] : await removedCleanly({ bench, namespace }, scenario, pace);
  const place = world.points.placeOf(namespace);
  // An empty namespace stays: its deletion would ask the API server for every kind of object, which costs more than the trial.
  if (atDeletion.length > 0) await api.call("DELETE", `/api/v1/namespaces/${namespace}`);
  return {
    problems: [...problems, ...atDeletion],
    end: rest.end,
    hasFired: fault === undefined || place?.fired === true,
    seconds: (performance.now() - beganMs) / 1_000,
    longestGapMs,
    counts: place?.counts ?? new Map(),
    log: world.points.linesOf(namespace),
  };
};
