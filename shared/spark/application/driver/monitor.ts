/** Follows a run by its driver's evidence. Absence is certain only when a live read of that very pod confirms it. */

import { type Decision, get, type Reads } from "../../../core/decision.ts";
import { omit } from "../../../core/json.ts";
import { attemptLabel, type Stored } from "../../../core/object.ts";
import { type Effect, notYetRecorded, onLiveReads, type Plan, type Wait, waitOf } from "../../../core/plan.ts";
import { counted } from "../../../core/text.ts";
import { instantOf } from "../../../core/time.ts";
import { until, type WaitingOn } from "../../../core/waiting-on.ts";
import { isEnding, labelOf, nodeNameOf, podStatus, startedAt, waitingReason } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import type { AllocationResult } from "../executors/allocation-result.ts";
import { ahead, allocateExecutors, type OwnRun, rushed, supplied } from "../executors/allocator.ts";
import { membersOfRun, regained, withMembers } from "../executors/lookup.ts";
import { closed, type ExecutorReport, monitorExecutors } from "../executors/monitor.ts";
import { type ApplicationContext, bodyOf, endStrays, readPods, removal } from "../run/context.ts";
import { failed, type Lateness, planOf, withHistory } from "../run/plan.ts";
import { exposureOf, submitAgain } from "../run/submit.ts";
import {
  causeOf,
  type Evidence,
  endOf,
  evidenceOf,
  failureOf,
  isBody,
  notDeleted,
  type Pods,
  submissionLabel,
} from "../state/evidence.ts";
import { followed } from "../state/machine.ts";
import { type Driver, isOwnRun, type Memory } from "../state/memory.ts";
import { showsSubmission } from "../state/status.ts";
import { delayed } from "./cleanup.ts";

/**
 * State of the recovery window. `awaited`: the driver is missing and may still return, so nothing is decided. `open`:
 * executors may still come up. `over`: executors that are not up are deleted.
 */
type RecoveryWindow = {
  readonly is: "awaited" | "open" | "over";
  readonly until?: number;
  readonly ends: readonly Effect[];
};

/** Interval in which a missing driver is read again. */
const againMs = 5_000;

/** Executors that were created and are not up. */
const pendingIn = ({ executors }: Pods): readonly Stored[] =>
  notDeleted(executors).filter((pod) => !["Running", "Succeeded", "Failed"].includes(podStatus(pod).phase ?? ""));

/** The recovery window of a run whose driver shows this evidence. */
const recoveryWindow = (
  context: ApplicationContext,
  found: Pods,
  { see }: { readonly see: Evidence },
): RecoveryWindow => {
  const { now, returning } = context.view;
  if (returning === undefined) return { is: "over", ends: [] };
  const { until, ends = false } = returning;
  if (see === "lost" && now < until) return { is: "awaited", until, ends: [] };
  const pending = see === "running" && ends ? pendingIn(found) : [];
  if (now < until && pending.length > 0) return { is: "open", until, ends: [] };
  return { is: "over", ends: pending.map((pod) => removal(pod, pods)) };
};

/** The plan while the driver may still return: only strays are deleted. */
const awaiting = (found: Pods, until: number): Pick<Plan<Memory>, "stages" | "next"> => ({
  stages: [endStrays(found)],
  next: {
    do: "wait",
    returning: true,
    wakeAt: until,
    pollMs: againMs,
    waitsFor: { on: "return", of: "the driver", until },
  },
});

type Sighted = { readonly see: Evidence; readonly pod: Stored | undefined };

/**
 * True when the driver pod existed, even if no step ever saw it: its executors are there, or the status shows its
 * submission, which is written only after its pod was created.
 */
const wasThere = ({ object }: ApplicationContext, driver: Driver, found: Pods): boolean =>
  driver.uid !== undefined || found.executors.length > 0 || showsSubmission(object, driver);

/** The list may be behind: a driver that existed and is not listed is read by name before it counts as lost. */
function* sighted(context: ApplicationContext, driver: Driver, found: Pods): Reads<Sighted> {
  if (found.driver !== undefined) return { see: evidenceOf(found.driver), pod: found.driver };
  if (!wasThere(context, driver, found)) return { see: "absent", pod: undefined };
  const pod = yield* get(bodyOf(context.key, driver));
  if (pod === undefined || !isBody(pod, context.view.uid, driver)) return { see: "lost", pod: undefined };
  return { see: evidenceOf(pod), pod };
}

/** The memory of a run under this evidence. */
const memoryAfter = (context: ApplicationContext, driver: Driver, sighting: Sighted): Memory | "resume" => {
  const { memory } = context;
  const { see, pod } = sighting;
  const endedAt = (pod === undefined ? undefined : endOf(pod)) ?? context.view.now;
  const next = followed[see];
  switch (next) {
    case "SUCCEEDING": {
      const { failures: _, ...good } = memory;
      return { ...good, driver, state: { phase: next, endedAt } };
    }
    case "FAILING": {
      const error = pod === undefined ? "driver pod not found" : failureOf(pod);
      return failed(context, driver, { endedAt, error, cause: causeOf(pod) });
    }
    case "resume":
      return next;
    default:
      return { ...memory, driver, state: { phase: next } };
  }
};

const waitsFor = (see: Evidence, pod: Stored | undefined): WaitingOn => {
  if (see === "running") return until("the driver", "finished");
  if (see === "unknown") return { on: "node" };
  const why = pod === undefined ? undefined : waitingReason(podStatus(pod));
  return until("the driver", "started", why?.slice(0, 200));
};

/** A driver that another controller submitted and never wrote down; Rekindle's own drivers carry their attempt. */
const unrecorded = (found: Pods): Stored | undefined =>
  notDeleted(found.strays).find(
    (pod) =>
      labelOf(pod, "spark-role") === "driver" &&
      labelOf(pod, attemptLabel) === undefined &&
      labelOf(pod, submissionLabel) !== undefined,
  );

/** The same run with that driver. */
const takenOver = (driver: Driver, pod: Stored): Driver => {
  const applicationId = labelOf(pod, "spark-app-selector");
  const { name: podName, uid } = pod.metadata;
  const submissionId = labelOf(pod, submissionLabel) ?? driver.submissionId;
  const submittedAt = instantOf(pod.metadata.creationTimestamp) ?? driver.submittedAt;
  const taken = { ...driver, submissionId, podName, uid, submittedAt };
  return applicationId === undefined ? taken : { ...taken, applicationId };
};

/** Creates the planned driver, which no step has seen, once no stray is left; or takes over an unrecorded one. */
function* resume(context: ApplicationContext, driver: Driver, found: Pods, ended: Ended): Decision<Memory> {
  const other = unrecorded(found);
  if (other !== undefined)
    return yield* monitorDriver({ ...context, memory: { ...context.memory, driver: takenOver(driver, other) } }, ended);
  if (found.strays.length === 0) return submitAgain(context);
  const waitsFor = until(counted(found.strays.length, "stray pod"), "ended");
  return planOf(context, context.memory, found, {
    stages: [endStrays(found)],
    next: { do: "wait", pollMs: 15_000, waitsFor },
  });
}

/** Evidence of a driver that has run: its services are created. */
const begun: ReadonlySet<Evidence> = new Set(["running", "completed", "failed", "lost"]);

/** Decides what a run that has ended does next, within the same step: a status write shows both. */
type Ended = (context: ApplicationContext) => Decision<Memory>;

/** The next wake-up: at the end of the first wait that is over. */
const timesOf = (back: RecoveryWindow, late: Lateness): Pick<Wait, "wakeAt" | "returning"> => {
  const due = [back.until, late?.is === "waiting" ? late.until : undefined].filter((time) => time !== undefined);
  return {
    ...(back.is === "open" ? { returning: true } : {}),
    ...(due.length === 0 ? {} : { wakeAt: Math.min(...due) }),
  };
};

/** The driver pod while it runs and is not being deleted: a deleted driver ends its executors as well. */
const running = ({ see, pod }: Sighted): Stored | undefined =>
  see === "running" && pod !== undefined && !isEnding(pod) ? pod : undefined;

type Run = {
  readonly driver: Driver;
  readonly found: Pods;
  /** The driver pod, while it runs. */
  readonly body: Stored | undefined;
  /** The recovery window is open: missing executors may still return, and none is called lost. */
  readonly open: boolean;
  /** Deletions of executors that did not come up in time. */
  readonly ends: readonly Effect[];
  readonly waits: Wait;
};

/**
 * The memory without the losses that were reported. The step that reported them saves that, because the next step may
 * come late. Where Rekindle creates executors, the creation of a replacement brings the next step.
 */
const allReported = (memory: Memory): Memory => {
  if (memory.executors === undefined) return memory;
  const { untold: _, ...executors } = memory.executors;
  return { ...memory, executors };
};

const sooner = ({ wakeAt: a = Number.POSITIVE_INFINITY }: Wait, b = Number.POSITIVE_INFINITY): Wait => {
  const wakeAt = Math.min(a, b);
  return Number.isFinite(wakeAt) ? { wakeAt } : {};
};

/** Closes the account of a run that is over, once its events are recorded. `before`: the context as recorded. */
function* closing(
  context: ApplicationContext,
  before: ApplicationContext,
  { driver, found, waits }: Run,
  ended: Ended,
): Decision<Memory> {
  const { memory, first } = closed(context, driver, found);
  if (notYetRecorded(context.view, first).length > 0)
    return { memory: before.memory, stages: [first], next: { do: "continue", ...waits } };
  return yield* ended({ ...context, memory });
}

/** True when cordons or events must come before the save and cannot wait. */
const isUrged = ({ view }: ApplicationContext, { cordons, first }: ExecutorReport): boolean =>
  cordons.length > 0 || notYetRecorded(view, first).length > 0;

/** The plan of the effects that come before the save: a death in between only repeats them. */
const beforehand = (context: ApplicationContext, report: ExecutorReport, waits: Wait): Plan<Memory> | undefined => {
  const { view, memory } = context;
  const { left, cordons, first } = report;
  const next = { do: "continue", ...waits } as const;
  if (notYetRecorded(view, left).length > 0) return { memory: view.memory ?? memory, stages: [left], next };
  if (!isUrged(context, report)) return undefined;
  return onLiveReads({ memory, stages: [cordons.length > 0 ? cordons : first], next });
};

/** Asks for another step after losses were reported, unless the plan creates a pod, whose event brings that step. */
const broughtBack = (plan: Plan<Memory>, events: readonly Effect[]): Plan<Memory> => {
  if (events.length === 0) return plan;
  return plan.stages.flat().some(({ do: act }) => act === "create")
    ? plan
    : { ...plan, next: { ...waitOf(plan), do: "again" } };
};

const ownRunOf = ({ driver, found, body }: Run): OwnRun | undefined =>
  body === undefined ? undefined : { driver, found, pod: body };

/** The allocator's creations and deletions, where Rekindle creates the executors. */
function* supplyOf(context: ApplicationContext, run: Run): Reads<AllocationResult | undefined> {
  const own = ownRunOf(run);
  return own === undefined ? undefined : yield* allocateExecutors(context, own);
}

type Care = { readonly report: ExecutorReport; readonly found: Pods } | { readonly first: Plan<Memory> };

/** The report of the executor monitor. Missing executors are created before anything is read for the report. */
function* careFor(context: ApplicationContext, run: Run, own: OwnRun): Reads<Care> {
  const { found, waits } = run;
  const { allotment } = context.memory;
  const members =
    allotment !== undefined && isOwnRun(context.memory) ? yield* membersOfRun(context, allotment, found) : undefined;
  const monitoring = monitorExecutors(context, { ...own, members });
  let state = monitoring.next();
  while (state.done !== true) {
    const first = members === undefined ? undefined : ahead(context, own, members, waits);
    if (first !== undefined) return { first };
    state = monitoring.next(yield state.value);
  }
  const { value: report } = state;
  if (members === undefined) return { report, found: { ...found, executors: report.seen } };
  const current = withMembers(found, members);
  return { report: current === found ? report : withoutSpent(report), found: current };
}

/** The report of a step whose list is behind: the pods that it shows ended may be gone, so the next step deletes them. */
const withoutSpent = (report: ExecutorReport): ExecutorReport =>
  report.spent.length === 0 ? report : { ...report, spent: [], pollMs: 1_000 };

/** Plans a run that goes on: its executors are monitored, and created where Rekindle is the allocator. */
function* cared(context: ApplicationContext, run: Run, ended: Ended): Decision<Memory> {
  const { driver, waits } = run;
  const strays = [...endStrays(run.found), ...run.ends];
  const own = ownRunOf(run);
  if (own === undefined || run.open)
    return supplied(context, run.found, yield* supplyOf(context, run), { stages: [strays], ...waits });
  const cares = yield* careFor(context, run, own);
  if ("first" in cares) return cares.first;
  const { report: care, found } = cares;
  const {
    memory,
    seen: _____,
    left: _,
    cordons: __,
    first: ___,
    effects,
    spent,
    events,
    untold: unsaid,
    end,
    wakeAt,
    ...more
  } = care;
  const timed = sooner(waits, wakeAt);
  const now = { ...context, memory };
  const rest = { ...waits, ...more, ...timed };
  const owned = end === undefined ? yield* supplyOf(now, run) : undefined;
  const plain = { ...rest, stages: [strays, effects] };
  const rush = isUrged(context, care) ? undefined : rushed(now, owned, { plain, untold: unsaid });
  const early = rush ?? beforehand(context, care, { ...waits, ...timed });
  if (early !== undefined) return early;
  if (end !== undefined) {
    const over = withHistory(now, memory.state.phase, failed(now, driver, end));
    return onLiveReads(yield* closing({ ...now, memory: over }, context, run, ended));
  }
  if (events.length === 0 || isOwnRun(memory))
    return broughtBack(supplied(now, found, owned, { ...rest, stages: [strays, effects, events], spent }), events);
  if (notYetRecorded(context.view, events).length > 0)
    return { memory, stages: [strays, [...effects, ...spent], events], next: { do: "continue", ...rest } };
  return planOf({ ...context, memory: allReported(context.memory) }, allReported(context.memory), found, {
    next: { do: "wait", ...rest },
  });
}

const withPlace = (driver: Driver, pod: Stored | undefined): Driver => {
  const [node, upAt] = pod === undefined ? [] : [nodeNameOf(pod), startedAt(pod)];
  return { ...driver, ...(node === undefined ? {} : { node }), ...(upAt === undefined ? {} : { upAt }) };
};

/** The driver as its pod shows it: its UID, and with this or with a new phase, which are saved, its node and start. */
const knownBy = ({ state }: Memory, driver: Driver, { see, pod }: Sighted): Driver => {
  if (pod === undefined) return driver;
  const { uid } = pod.metadata;
  const isSaved = driver.uid !== uid || followed[see] !== state.phase;
  return { ...(isSaved ? withPlace(driver, pod) : driver), uid };
};

/**
 * The memory once the driver pod is seen for the first time. If one save alone planned the driver, the pod shows that its
 * one creation has arrived: no other can, and the next attempt keeps no distance from it.
 */
const afterArrival = (memory: Memory, driver: Driver, { pod }: Sighted): Memory => {
  const isFirst = pod !== undefined && driver.uid === undefined && memory.plannedAt === driver.submittedAt;
  return isFirst && labelOf(pod, attemptLabel) === `${driver.attempt}` ? omit(memory, "plannedAt") : memory;
};

/** A driver that no list shows, and a time limit that has passed, need live reads: both conclude from what is not there. */
const sure = ({ driver }: Pods, { pod }: Sighted, late: Lateness, plan: Plan<Memory>): Plan<Memory> =>
  pod === undefined || pod !== driver || late?.is === "late" ? onLiveReads(plan) : plan;

export function* monitorDriver(given: ApplicationContext, ended: Ended): Decision<Memory> {
  const found = yield* readPods(given);
  const there = regained(given, found);
  const { driver } = there.memory;
  if (driver === undefined)
    return planOf(there, { ...there.memory, state: { phase: "PENDING_RERUN" } }, found, { next: { do: "again" } });
  const sighting = yield* sighted(there, driver, found);
  const memory = afterArrival(there.memory, driver, sighting);
  const context = { ...there, memory };
  const known = knownBy(memory, driver, sighting);
  const back = recoveryWindow(context, found, sighting);
  if (back.is === "awaited" && back.until !== undefined)
    return planOf(context, { ...memory, driver: known }, found, awaiting(found, back.until));
  const { late, says = waitsFor(sighting.see, sighting.pod) } = yield* delayed(
    context,
    { driver: known, found },
    sighting,
  );
  const after =
    late?.is === "late"
      ? failed(context, withPlace(known, sighting.pod), late.end)
      : memoryAfter(context, known, sighting);
  if (after === "resume") return sure(found, sighting, late, yield* resume(context, driver, found, ended));
  const isOver = after.state.phase === "SUCCEEDING" || after.state.phase === "FAILING";
  const next = withHistory(context, context.memory.state.phase, after);
  const following = isOver ? { ...memory, driver: known } : next;
  const doors = begun.has(sighting.see) ? yield* exposureOf({ ...context, memory: following }) : { info: {} };
  const waits = { ...timesOf(back, late), waitsFor: says };
  if ("make" in doors)
    return sure(found, sighting, late, {
      ...{ memory: doors.memory, stages: [doors.make], next: { do: "continue", ...waits } },
    });
  const now = { ...context, memory: next, info: doors.info };
  const run = { driver: known, found, body: running(sighting), open: back.is === "open", ends: back.ends, waits };
  return sure(found, sighting, late, yield* isOver ? closing(now, context, run, ended) : cared(now, run, ended));
}
