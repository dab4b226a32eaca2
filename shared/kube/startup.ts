/**
 * Adds pods that do not start to a step's plan: the record says what they wait for, and an Event reports each reason
 * once. The Events of a pod are listed only if it has been pending past its grace and its status leaves the reason
 * open. Pure.
 */

import { type Decision, list, type Reads } from "../core/decision.ts";
import type { Resource, Stored } from "../core/object.ts";
import { type Effect, type Next, notYetRecorded, type Plan, type View, waitOf } from "../core/plan.ts";
import type { WaitingOn } from "../core/waiting-on.ts";
import { eventsOf, type Holdup, holdupOf, holdupText, needsEvents, startDueAt, startGraceMs } from "./holdups.ts";
import { pods } from "./resources.ts";

/** Reasons that were reported for pods that do not start, as a memory keeps them: each with its run and its role. */
export type ToldHoldups = { readonly held?: readonly string[] | undefined };

export type Startup = {
  readonly object: Stored;
  readonly resource: Resource;
  /** The attempt or version that the pods are of. */
  readonly run: number;
  /** The role of the pods, as `driver` or `executor`; each reason is reported once for a role. */
  readonly role: string;
  /** The pod's UID, where runs are counted anew: it makes the Event's name unique. */
  readonly occasion?: string;
  /** Read only if the plan neither creates pods nor ends the record. */
  readonly pods: Reads<readonly Stored[]>;
  /** Returns what the record waits for; `before` is the wait of the plan. */
  readonly waitsFor: (text: string, before: WaitingOn | undefined, holdup: Holdup) => WaitingOn;
};

type Pending = { readonly pod: Stored; readonly dueAt: number };

type Finding = { readonly holdup?: Holdup; readonly pollMs?: number };

/** Returns how soon a step looks again at such a pod: less often with time, finally only by a resync. */
const pollMsAt = (lateMs: number): number | undefined => {
  if (lateMs < 120_000) return startGraceMs;
  return lateMs < 600_000 ? 60_000 : undefined;
};

const pollOf = (pollMs: number | undefined): { readonly pollMs?: number } => (pollMs === undefined ? {} : { pollMs });

const pendingAmong = (all: readonly Stored[]): readonly Pending[] =>
  all.flatMap((pod) => {
    const dueAt = startDueAt(pod);
    return dueAt === undefined ? [] : [{ pod, dueAt }];
  });

/** Looks at the first pod whose status gives a reason, else at the first; one pod is enough for a report. */
function* findingOf({ now }: View<unknown>, all: readonly Stored[]): Reads<Finding> {
  const pending = pendingAmong(all);
  const late = pending.filter(({ dueAt }) => dueAt <= now);
  const chosen = late.find(({ pod }) => !needsEvents(pod)) ?? late[0];
  if (chosen === undefined) return pollOf(pending.length === 0 ? undefined : startGraceMs);
  const silent = needsEvents(chosen.pod);
  const about = silent ? yield* list(eventsOf(chosen.pod)) : [];
  const polls = silent ? pollMsAt(now - chosen.dueAt) : late.length < pending.length ? startGraceMs : undefined;
  return { holdup: holdupOf(chosen.pod, about), ...pollOf(polls) };
}

/** Leaves out the pods that the step deletes: the reason of their deletion is reported instead. */
const staying = (
  { done = [] }: View<unknown>,
  { stages }: Plan<unknown>,
  all: readonly Stored[],
): readonly Stored[] => {
  const effects = [...done, ...stages.flat()];
  const ended = new Set(effects.flatMap((effect) => (effect.do === "delete" ? [effect.uid] : [])));
  return all.filter(({ metadata }) => !ended.has(metadata.uid));
};

/** The most reasons that are remembered. */
const mostTold = 8;

const longest = 1_000;

const eventOf = ({ object, resource, role, occasion }: Startup, gist: string, holdup: Holdup): Effect => ({
  do: "record",
  about: object,
  resource,
  occasion: occasion === undefined ? gist : `${gist} ${occasion}`,
  type: "Warning",
  reason: "PodNotStarting",
  message: `${role} pod ${holdup.pod} does not start: ${holdupText(holdup)}; ${holdup.help}`.slice(0, longest),
});

/** Returns one reason for two that the kubelet writes in turns about the same problem. */
const reasonOf = ({ reason }: Holdup): string => (reason === "ErrImagePull" ? "ImagePullBackOff" : reason);

/** Returns the plan with a poll after this many ms, unless it has a sooner one. */
const polled = <Memory>(plan: Plan<Memory>, pollMs: number | undefined): Plan<Memory> => {
  const wait = waitOf(plan);
  if (pollMs === undefined || (wait.pollMs ?? Number.POSITIVE_INFINITY) <= pollMs) return plan;
  return { ...plan, next: { do: plan.next.do === "again" ? "again" : "wait", ...wait, pollMs } };
};

const waitingFor = ({ next }: Plan<unknown>, waitsFor: WaitingOn): Next =>
  next.do === "forget" ? next : { ...next, waitsFor };

const makesPods = ({ stages }: Plan<unknown>): boolean =>
  stages.flat().some((effect) => effect.do === "create" && effect.resource === pods);

/** Adds to the plan what its pods wait for. A new reason is recorded first, so that a death loses nothing. */
const telling = <Memory extends ToldHoldups>(
  view: View<Memory>,
  startup: Startup,
  plan: Plan<Memory>,
  holdup: Holdup,
): Plan<Memory> => {
  const waitsFor = startup.waitsFor(holdupText(holdup).slice(0, 300), waitOf(plan).waitsFor, holdup);
  const now: Plan<Memory> = { ...plan, next: waitingFor(plan, waitsFor) };
  const run = `${startup.run} `;
  const gist = `${run}${startup.role} ${reasonOf(holdup)}`;
  const known = (plan.memory.held ?? []).filter((one) => one.startsWith(run));
  if (!holdup.isWrong || known.includes(gist)) return now;
  const event = eventOf(startup, gist, holdup);
  if (notYetRecorded(view, [event]).length > 0)
    return {
      ...now,
      memory: view.memory ?? plan.memory,
      stages: [[event]],
      next: { ...waitOf(now), do: "continue" },
    };
  const { statusIsRecord: _, ...safety } = now.safety ?? {};
  return { ...now, safety, memory: { ...plan.memory, held: [...known, gist].slice(-mostTold) } };
};

/** Adds to the plan of a step what keeps these pods from starting. */
export function* withStartup<Memory extends ToldHoldups>(
  view: View<Memory>,
  startup: Startup,
  plan: Plan<Memory>,
): Decision<Memory> {
  if (plan.next.do === "continue" || plan.next.do === "forget") return plan;
  // A pod that the plan creates has no status yet: a poll finds out whether it starts.
  if (makesPods(plan)) return polled(plan, startGraceMs);
  const { holdup, pollMs } = yield* findingOf(view, staying(view, plan, yield* startup.pods));
  const looking = polled(plan, pollMs);
  return holdup === undefined ? looking : telling(view, startup, looking, holdup);
}
