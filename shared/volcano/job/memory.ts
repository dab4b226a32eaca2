/**
 * The memory of a Job: facts that its pods and its group do not show. It holds the phase and the counts handed out, the
 * pods that were seen, the events that were handled, the pods to be ended, and the delayed actions.
 */

import * as z from "zod";
import { oncePer } from "../../core/cache.ts";
import { omit, withoutNulls } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { readerOf, type Salvaged, salvage } from "../../core/operator.ts";
import { instantOf } from "../../core/time.ts";
import { instant } from "../../kube/schema.ts";
import { actions, isPhase, type Phase, phases } from "../schema/resource.ts";
import { isFinished, isWorking } from "./machine.ts";

type Ordinals = ReadonlySet<number>;

const shape = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;

/** The most ordinals in a record, five times the most pods of a job: a longer list is foreign and takes seconds. */
const most = 100_000;

type Range = readonly [first: number, last: number];

const rangesIn = (text: string): readonly Range[] =>
  text === ""
    ? []
    : text.split(",").map((range): Range => {
        const [first = 0, last = first] = range.split("-").map(Number);
        return [first, last];
      });

const sizeOf = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, [first, last]) => sum + Math.max(0, last - first + 1), 0);

/** True if all texts are sets that together hold at most `most` ordinals; counts them without listing them. */
export const areSets = (texts: readonly string[]): boolean =>
  texts.every((text) => text === "" || shape.test(text)) &&
  texts.reduce((sum, text) => sum + sizeOf(rangesIn(text)), 0) <= most;

/** Reads a set; returns undefined if the text is not a set or holds too many ordinals. */
export const ordinalsIn = (text: string): Ordinals | undefined => {
  if (!areSets([text])) return undefined;
  const found = new Set<number>();
  for (const [first, last] of rangesIn(text)) for (let at = first; at <= last; at += 1) found.add(at);
  return found;
};

export const ordinalsText = (ordinals: Iterable<number>): string => {
  const ranges: [number, number][] = [];
  for (const at of [...ordinals].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === at) last[1] = at;
    else ranges.push([at, at]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
};

/** Sets by task; tasks with an empty set are left out. */
type ByTask = Readonly<Record<string, string>>;

export const ofTask = (sets: ByTask, task: string): Ordinals => ordinalsIn(sets[task] ?? "") ?? new Set();

/** Returns a test whether a task's ordinal is in the sets. It parses the sets once for many tests. */
export const holderOf = (sets: ByTask): ((place: { readonly task: string; readonly index: number }) => boolean) => {
  const known = new Map(Object.keys(sets).map((task) => [task, ofTask(sets, task)]));
  return ({ task, index }) => known.get(task)?.has(index) === true;
};

/** Writes the ordinals of each task as a text; tasks with an empty set are left out. */
export const changed = (sets: ReadonlyMap<string, Iterable<number>>): ByTask =>
  Object.fromEntries(
    [...sets].flatMap(([task, ordinals]) => {
      const text = ordinalsText(ordinals);
      return text === "" ? [] : [[task, text]];
    }),
  );

const phase = z.enum(phases);

/** Ordinals by task. */
const sets = z.record(z.string(), z.string()).refine((texts) => areSets(Object.values(texts)));

/** A delayed action. */
const delay = z.object({
  event: z.string(),
  action: z.enum(actions),
  task: z.string(),
  /** The pod that the action is for; absent: the task or the job. */
  index: z.number().int().optional(),
  partition: z.string().optional(),
  /** The event came from outside: see `PolicyEvent`. */
  disrupted: z.literal(true).optional(),
  /** Epoch ms. */
  dueAt: instant,
});

/** An Event that is still to be recorded; its name derives from `occasion`. */
const untold = z.object({
  occasion: z.string(),
  type: z.enum(["Normal", "Warning"]),
  reason: z.string(),
  message: z.string(),
});

const memory = z.object({
  phase,
  /** When the phase was entered, epoch ms. */
  since: instant,
  /** The action that led here, and its cause, for people. */
  why: z.object({ reason: z.string(), message: z.string() }).optional(),
  version: z.number().int().min(0),
  retryCount: z.number().int().min(0),
  /** Finished pods of earlier versions are kept and counted. */
  keeps: z.boolean(),
  /** The latest entry into each phase, the latest last; epoch ms. */
  conditions: z.array(z.object({ phase, at: instant })),
  /** Pods of the current version that a step has seen and no step has asked to end: a missing one was evicted. */
  seen: sets,
  /** Pods of `seen` whose failure was an event already. */
  failed: sets,
  /** Pods that succeeded, including those that were deleted since. */
  done: sets.default({}),
  /** Pods whose deletion began before they succeeded: a terminal phase written afterwards does not count. */
  leaving: sets.default({}),
  /** Excess pods that a step deletes, and when the latest of these deletions was planned, epoch ms. */
  dismissed: z.object({ at: instant, pods: sets }).optional(),
  /** Tasks whose completion, and tasks whose exhaustion, was an event already. */
  completed: z.array(z.string()),
  exhausted: z.array(z.string()),
  /** UIDs of pods that are to be ended, until they are gone. */
  doomed: z.array(z.string()),
  delays: z.array(delay),
  /** UID of the group that the job has left behind. */
  retired: z.string().optional(),
  /** The group has the job's own name, as earlier upstream versions named it. */
  legacy: z.boolean().optional(),
  /** UID of the group whose phase Unknown was an event already. */
  unknown: z.string().optional(),
  /** Digest of the job's shared objects when a step last found them complete; "" when a step found them deleted. */
  kept: z.string().optional(),
  /** UIDs of taken commands: those whose objects exist, and the latest. */
  commands: z.array(z.string()).optional(),
  /** When the job was first Running after its start or its resumption, epoch ms; absent while it does not work. */
  activeSince: instant.optional(),
  /** Restarts in a row, and the instant until which the pods of the latest one wait, epoch ms. */
  backoff: z.object({ restarts: z.number().int(), until: instant }).optional(),
  /** The job was aborted because of its suspend annotation. */
  suspended: z.boolean().optional(),
  /**
   * Pods that a quota or a policy of the cluster refused: their tasks, the tries so far, the time of the next one (epoch
   * ms), and the server's message.
   */
  denied: z
    .object({ tasks: z.array(z.string()), tries: z.number().int(), until: instant, message: z.string() })
    .optional(),
  /** The hindrance of the job's group that was reported last: see `hindranceId`. */
  hindered: z.string().optional(),
  /** Reasons already reported for pods that do not start: see kube/startup.ts. */
  held: z.array(z.string()).optional(),
  /** Events that are still to be recorded and that no status shows. */
  untold: z.array(untold).optional(),
  /** The job's queue sends its pods to other clusters. */
  forwarding: z.boolean(),
});

export type Memory = z.infer<typeof memory>;
export type Delay = z.infer<typeof delay>;
export type PendingEvent = z.infer<typeof untold>;

export const parseMemory = readerOf("Job", memory);

/** Reads the valid fields of a stored memory, and reports the problems of the others. */
export const salvageMemory = (stored: unknown): Salvaged<Memory> => salvage(memory, memory.partial(), stored);

const shown = z.looseObject({
  state: z
    .looseObject({
      phase: z.string().optional(),
      message: z.string().optional().catch(undefined),
      lastTransitionTime: z.string().optional(),
    })
    .optional(),
  version: z.number().int().optional(),
  retryCount: z.number().int().optional(),
  conditions: z.array(z.looseObject({ status: z.string(), lastTransitionTime: z.string().optional() })).optional(),
});

type Shown = z.infer<typeof shown>;

const shownIn = oncePer((job: Stored): Shown => shown.safeParse(withoutNulls(job.status ?? {})).data ?? {});

/** Returns phase and message of the status. */
export const stateShown = (job: Stored): { readonly phase: Phase | undefined; readonly message: string } => {
  const { state } = shownIn(job);
  return { phase: isPhase(state?.phase) ? state.phase : undefined, message: state?.message ?? "" };
};

/** Returns the phase in the status; undefined while the status has none. */
export const shownPhase = (job: Stored): Phase | undefined => stateShown(job).phase;

const conditionsIn = ({ conditions = [] }: Shown, now: number): Memory["conditions"] =>
  conditions.flatMap(({ status, lastTransitionTime }) =>
    isPhase(status) ? [{ phase: status, at: instantOf(lastTransitionTime) ?? now }] : [],
  );

/** Makes the memory of a job without a record from its status, so that upstream's jobs go on as they were. */
export const seeded = (job: Stored, now: number): Memory => {
  const shown = shownIn(job);
  const entered = shownPhase(job);
  const since = entered === undefined ? now : (instantOf(shown.state?.lastTransitionTime) ?? now);
  const conditions = conditionsIn(shown, now);
  const running = conditions.find(({ phase }) => phase === "Running")?.at;
  return {
    phase: entered ?? "Pending",
    since,
    version: shown.version ?? 0,
    retryCount: shown.retryCount ?? 0,
    keeps: true,
    conditions: conditions.length > 0 ? conditions : [{ phase: "Pending", at: since }],
    seen: {},
    failed: {},
    done: {},
    leaving: {},
    completed: [],
    exhausted: [],
    doomed: [],
    delays: [],
    ...(running === undefined || !isWorking(entered ?? "Pending") ? {} : { activeSince: running }),
    forwarding: job.metadata.annotations?.["volcano.sh/job-forwarding"] === "true",
  };
};

/**
 * Returns the memory after the job enters a phase, with the phase as its latest condition. A job that has ended for good
 * has no use for the pods whose end is no event.
 */
export const enterPhase = (before: Memory, into: Phase, now: number): Memory =>
  into === before.phase
    ? before
    : {
        ...(isFinished(into) && into !== "Aborted" ? omit(before, "dismissed") : before),
        phase: into,
        since: now,
        conditions: [...before.conditions.filter((one) => one.phase !== into), { phase: into, at: now }],
      };
