/**
 * What a job's steps remember of each other, beyond what its pods and its group show: the phase and the counts that were
 * handed out, which pods have been seen, which of their ends were acted on, which are to be ended, which actions wait.
 */
import * as z from "zod";
import { oncePer } from "../../core/memoize.ts";
import { readerOf, type Salvaged, salvage } from "../../core/memory.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { instant } from "../../kube/instant.ts";
import { withoutNulls } from "../schema/absent.ts";
import { actions, isPhase, type Phase, phases } from "../schema/words.ts";
import { isWorking } from "./machine.ts";
import { areSets } from "./ordinals.ts";

const phase = z.enum(phases);

/** Ordinals by task. */
const sets = z.record(z.string(), z.string()).refine((texts) => areSets(Object.values(texts)));

/** An action that waits for its time. */
const delay = z.object({
  event: z.string(),
  action: z.enum(actions),
  task: z.string(),
  /** The pod that it is about; absent: the task or the job. */
  index: z.number().int().optional(),
  partition: z.string().optional(),
  /** It was taken from outside: see `Happening`. */
  disrupted: z.literal(true).optional(),
  /** Epoch ms. */
  dueAt: instant,
});

/** An event by what it is about, its words, and what makes its name. */
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
  /** What led here, for people. */
  why: z.object({ reason: z.string(), message: z.string() }).optional(),
  version: z.number().int().min(0),
  retryCount: z.number().int().min(0),
  /** Finished pods of earlier versions are kept and counted. */
  keeps: z.boolean(),
  /** The latest entry into each phase, the latest last; epoch ms. */
  conditions: z.array(z.object({ phase, at: instant })),
  /** Pods of the current version that a step has seen, and that nobody here has asked to end: missing, they were evicted. */
  seen: sets,
  /** Of these, failed ones whose failure was an event already. */
  failed: sets,
  /** Pods that succeeded: what they were for is done, also when somebody has removed them since. */
  done: sets.default({}),
  /** Pods whose deletion began before they had succeeded: the terminal phase that a kubelet writes on the way counts nothing. */
  leaving: sets.default({}),
  /** Pods that a step ends because they are too many, and when the latest of these requests was planned, epoch ms. */
  dismissed: z.object({ at: instant, pods: sets }).optional(),
  /** Tasks whose completion, and tasks whose exhaustion, was an event already. */
  completed: z.array(z.string()),
  exhausted: z.array(z.string()),
  /** UIDs of pods that are to be ended, until they are gone. */
  doomed: z.array(z.string()),
  delays: z.array(delay),
  /** UID of the group that the job has left behind. */
  retired: z.string().optional(),
  /** The group bears the job's own name, as earlier upstreams called it. */
  legacy: z.boolean().optional(),
  /** UID of the group whose being unknown was an event already. */
  unknown: z.string().optional(),
  /** Digest of the job's shared objects as they were last seen to stand; "" when they were seen to be gone. */
  kept: z.string().optional(),
  /** UIDs of commands that were taken: those whose objects are there, and the latest. */
  commands: z.array(z.string()).optional(),
  /** Since when the job has been at work, as long as it is, epoch ms: first Running after it began, or was resumed. */
  activeSince: instant.optional(),
  /** Restarts in a row, and until when the pods of the latest wait, epoch ms. */
  backoff: z.object({ restarts: z.number().int(), until: instant }).optional(),
  /** Aborted because its annotation says so. */
  suspended: z.boolean().optional(),
  /** What hindered the job's group when that was told last. */
  hindered: z.string().optional(),
  /** Why pods did not start, as far as it was told: see kube/startup.ts. */
  held: z.array(z.string()).optional(),
  /** Events that are still to be told, and that no status shows to have been. */
  untold: z.array(untold).optional(),
  /** The job's queue sends its pods to other clusters. */
  forwarding: z.boolean(),
});

export type Memory = z.infer<typeof memory>;
export type Delay = z.infer<typeof delay>;
export type Untold = z.infer<typeof untold>;

export const parseMemory = readerOf("Job", memory);

/** What of a stored memory can be read, field by field, and what was wrong with the rest. */
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

const shownIn = oncePer((job: Stored): Shown => shown.safeParse(withoutNulls(job["status"] ?? {})).data ?? {});

/** What the status says of the state that the job is in. */
export const stateShown = (job: Stored): { readonly phase: Phase | undefined; readonly message: string } => {
  const { state } = shownIn(job);
  return { phase: isPhase(state?.phase) ? state.phase : undefined, message: state?.message ?? "" };
};

/** The phase that everybody sees; undefined while nothing has been told. */
export const shownPhase = (job: Stored): Phase | undefined => stateShown(job).phase;

const conditionsIn = ({ conditions = [] }: Shown, now: number): Memory["conditions"] =>
  conditions.flatMap(({ status, lastTransitionTime }) =>
    isPhase(status) ? [{ phase: status, at: instantOf(lastTransitionTime) ?? now }] : [],
  );

/** What is known of a job that nobody here has met: from its status, so that what upstream left goes on as it was. */
export const seeded = (job: Stored, now: number): Memory => {
  const told = shownIn(job);
  const entered = shownPhase(job);
  const since = entered === undefined ? now : (instantOf(told.state?.lastTransitionTime) ?? now);
  const conditions = conditionsIn(told, now);
  const running = conditions.find(({ phase }) => phase === "Running")?.at;
  return {
    phase: entered ?? "Pending",
    since,
    version: told.version ?? 0,
    retryCount: told.retryCount ?? 0,
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

/** The phase entered, and told as the latest. */
export const entered = (before: Memory, into: Phase, now: number): Memory =>
  into === before.phase
    ? before
    : {
        ...before,
        phase: into,
        since: now,
        conditions: [...before.conditions.filter((one) => one.phase !== into), { phase: into, at: now }],
      };
