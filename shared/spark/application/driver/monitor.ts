/** Following a run by its driver's evidence. Absence is certain only when a live read of that very pod confirms it. */

import { counted } from "../../../core/counted.ts";
import { type Decision, get, type Reads } from "../../../core/decision.ts";
import type { Stored } from "../../../core/object.ts";
import { type Effect, type Plan, untold, type Wait, waitOf } from "../../../core/plan.ts";
import { instantOf } from "../../../core/time.ts";
import { until, type WaitingOn } from "../../../core/waiting-on.ts";
import { isEnding, labelOf, podStatus, waitingReason } from "../../../kube/pods.ts";
import { exposureOf } from "../auxiliary-objects.ts";
import { type ApplicationContext, bodyOf, endStrays, readPods } from "../context.ts";
import { ahead, rushed, supplied } from "../executors/allocation-plan.ts";
import { type AllocationResult, allocateExecutors, type OwnRun } from "../executors/allocator.ts";
import { closed } from "../executors/final-account.ts";
import { membersOfRun, regained } from "../executors/lookup.ts";
import { type ExecutorReport, monitorExecutors } from "../executors/monitor.ts";
import { withHistory } from "../history.ts";
import { followed } from "../machine.ts";
import type { Driver, Memory } from "../memory.ts";
import { planOf } from "../plan.ts";
import { awaiting, type RecoveryWindow, recoveryWindow } from "../recovery-window.ts";
import { isOwnRun } from "../run-spec.ts";
import { showsSubmission } from "../status.ts";
import { alive, type Evidence, endOf, evidenceOf, failureOf, isBody, type Pods, submissionLabel } from "./evidence.ts";
import { failed, type Lateness } from "./failure.ts";
import { causeOf } from "./failure-causes.ts";
import { submitAgain } from "./submit.ts";
import { delayed } from "./unreachable.ts";

type Sighted = { readonly see: Evidence; readonly pod: Stored | undefined };

/**
 * What the driver left shows that it was there, even if no step ever saw it: its executors, or the status, which tells of a
 * submission only when its pod had been created.
 */
const wasThere = ({ object }: ApplicationContext, driver: Driver, found: Pods): boolean =>
  driver.uid !== undefined || found.executors.length > 0 || showsSubmission(object, driver);

/** The list may be behind: a driver that was there and is not listed is asked for by name before it counts as lost. */
function* sighted(scene: ApplicationContext, driver: Driver, found: Pods): Reads<Sighted> {
  if (found.driver !== undefined) return { see: evidenceOf(found.driver), pod: found.driver };
  if (!wasThere(scene, driver, found)) return { see: "absent", pod: undefined };
  const pod = yield* get(bodyOf(scene.key, driver));
  if (pod === undefined || !isBody(pod, scene.view.uid, driver)) return { see: "lost", pod: undefined };
  return { see: evidenceOf(pod), pod };
}

/** What is to be remembered of a run under this evidence. */
const memoryAfter = (scene: ApplicationContext, driver: Driver, sighting: Sighted): Memory | "resume" => {
  const { memory } = scene;
  const { see, pod } = sighting;
  const endedAt = (pod === undefined ? undefined : endOf(pod)) ?? scene.view.now;
  const next = followed[see];
  switch (next) {
    case "SUCCEEDING": {
      const { failures: _, ...good } = memory;
      return { ...good, driver, state: { phase: next, endedAt } };
    }
    case "FAILING": {
      const error = pod === undefined ? "driver pod not found" : failureOf(pod);
      return failed(scene, driver, { endedAt, error, cause: causeOf(pod) });
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

/** A driver that another controller submitted and never wrote down; our own carry their attempt. */
const unrecorded = (found: Pods): Stored | undefined =>
  alive(found.strays).find(
    (pod) =>
      labelOf(pod, "spark-role") === "driver" &&
      labelOf(pod, "rekindle.dev/attempt") === undefined &&
      labelOf(pod, submissionLabel) !== undefined,
  );

/** The same run with that driver as its own. */
const takenOver = (driver: Driver, pod: Stored): Driver => {
  const applicationId = labelOf(pod, "spark-app-selector");
  const { name: podName, uid } = pod.metadata;
  const submissionId = labelOf(pod, submissionLabel) ?? driver.submissionId;
  const submittedAt = instantOf(pod.metadata.creationTimestamp) ?? driver.submittedAt;
  const taken = { ...driver, submissionId, podName, uid, submittedAt };
  return applicationId === undefined ? taken : { ...taken, applicationId };
};

/** The planned driver was never seen: it is created, again if need be, once nothing of another is in its place. */
function* resume(scene: ApplicationContext, driver: Driver, found: Pods, ended: Ended): Decision<Memory> {
  const other = unrecorded(found);
  if (other !== undefined)
    return yield* monitorDriver({ ...scene, memory: { ...scene.memory, driver: takenOver(driver, other) } }, ended);
  if (found.strays.length === 0) return submitAgain(scene);
  const waitsFor = until(counted(found.strays.length, "stray pod"), "ended");
  return planOf(scene, scene.memory, found, {
    stages: [endStrays(found)],
    next: { do: "wait", pollMs: 15_000, waitsFor },
  });
}

/** The driver has run: it may be reached, and have shown its UI. */
const begun: ReadonlySet<Evidence> = new Set(["running", "completed", "failed", "lost"]);

/** What a run that has ended does next; within the same step, for what showed its end shows that, too. */
type Ended = (scene: ApplicationContext) => Decision<Memory>;

/** When to look again: at the end of whichever wait is over first. */
const timesOf = (back: RecoveryWindow, late: Lateness): Pick<Wait, "wakeAt" | "returning"> => {
  const due = [back.until, late?.is === "waiting" ? late.until : undefined].filter((time) => time !== undefined);
  return {
    ...(back.is === "open" ? { returning: true } : {}),
    ...(due.length === 0 ? {} : { wakeAt: Math.min(...due) }),
  };
};

/** A driver that is told to end takes its executors with it: from then on they are nobody's care. */
const running = ({ see, pod }: Sighted): Stored | undefined =>
  see === "running" && pod !== undefined && !isEnding(pod) ? pod : undefined;

type Run = {
  readonly driver: Driver;
  readonly found: Pods;
  /** The driver's pod, while it runs. */
  readonly body: Stored | undefined;
  /** After a recovery who is missing may still come back: nothing is called lost. */
  readonly open: boolean;
  /** Those that did not come back in time. */
  readonly ends: readonly Effect[];
  readonly waits: Wait;
};

/**
 * The account once its losses have been told: whoever told them remembers that, for nobody may come by for a long time.
 * Where Rekindle makes executors, the replacement of who was lost brings the next step.
 */
const allTold = (memory: Memory): Memory => {
  if (memory.executors === undefined) return memory;
  const { untold: _, ...executors } = memory.executors;
  return { ...memory, executors };
};

const sooner = ({ wakeAt: a = Number.POSITIVE_INFINITY }: Wait, b = Number.POSITIVE_INFINITY): Wait => {
  const wakeAt = Math.min(a, b);
  return Number.isFinite(wakeAt) ? { wakeAt } : {};
};

/** The run is over: its account is closed, when all of it has been told. `before`: the scene as it was recorded. */
function* closing(
  scene: ApplicationContext,
  before: ApplicationContext,
  { driver, found, waits }: Run,
  ended: Ended,
): Decision<Memory> {
  const { memory, first } = closed(scene, driver, found);
  if (untold(scene.view, first).length > 0)
    return { memory: before.memory, stages: [first], next: { do: "continue", ...waits } };
  return yield* ended({ ...scene, memory });
}

/** Something is to be done before what was found is remembered, and cannot wait for anything. */
const isUrged = ({ view }: ApplicationContext, { cordons, first }: ExecutorReport): boolean =>
  cordons.length > 0 || untold(view, first).length > 0;

/** What is done before what was found is remembered: a death in between only does it again. */
const beforehand = (
  scene: ApplicationContext,
  { left, cordons, first }: ExecutorReport,
  waits: Wait,
): Plan<Memory> | undefined => {
  const { view, memory } = scene;
  const next = { do: "continue", ...waits } as const;
  if (untold(view, left).length > 0)
    return { memory: view.memory ?? memory, stages: [left], next, safety: { staleSafe: true } };
  if (cordons.length > 0) return { memory, stages: [cordons], next };
  return untold(view, first).length > 0 ? { memory, stages: [first], next } : undefined;
};

/** A replacement that is made brings the next step by itself; one that was there before does not. */
const broughtBack = (plan: Plan<Memory>, told: readonly Effect[]): Plan<Memory> => {
  if (told.length === 0) return plan;
  return plan.stages.flat().some(({ do: act }) => act === "create")
    ? plan
    : { ...plan, next: { ...waitOf(plan), do: "again" } };
};

const ownRunOf = ({ driver, found, body }: Run): OwnRun | undefined =>
  body === undefined ? undefined : { driver, found, pod: body };

/** What is made and ended of the executors, where that is Rekindle's to do. */
function* supplyOf(scene: ApplicationContext, run: Run): Reads<AllocationResult | undefined> {
  const own = ownRunOf(run);
  return own === undefined ? undefined : yield* allocateExecutors(scene, own);
}

type Care = { readonly report: ExecutorReport } | { readonly first: Plan<Memory> };

/** What is to be done about the executors; before anything is read for it, those that are short are made. */
function* careFor(scene: ApplicationContext, run: Run, own: OwnRun): Reads<Care> {
  const { found, waits } = run;
  const { allotment } = scene.memory;
  const members =
    allotment !== undefined && isOwnRun(scene.memory) ? yield* membersOfRun(scene, allotment, found) : undefined;
  const monitoring = monitorExecutors(scene, { ...own, members });
  let state = monitoring.next();
  while (state.done !== true) {
    const first = members === undefined ? undefined : ahead(scene, own, members, waits);
    if (first !== undefined) return { first };
    state = monitoring.next(yield state.value);
  }
  return { report: state.value };
}

/** The run goes on: its executors are looked after, and made where that is ours to do. */
function* cared(scene: ApplicationContext, run: Run, ended: Ended): Decision<Memory> {
  const { driver, found, waits } = run;
  const strays = [...endStrays(found), ...run.ends];
  const own = ownRunOf(run);
  if (own === undefined || run.open)
    return supplied(scene, found, yield* supplyOf(scene, run), { stages: [strays], ...waits });
  const cares = yield* careFor(scene, run, own);
  if ("first" in cares) return cares.first;
  const { report: care } = cares;
  const { memory, left: _, cordons: __, first: ___, effects, spent, told, untold: unsaid, end, wakeAt, ...more } = care;
  const timed = sooner(waits, wakeAt);
  const now = { ...scene, memory };
  const rest = { ...waits, ...more, ...timed };
  const owned = end === undefined ? yield* supplyOf(now, run) : undefined;
  const plain = { ...rest, stages: [strays, effects] };
  const rush = isUrged(scene, care) ? undefined : rushed(now, found, owned, { plain, untold: unsaid });
  const early = rush ?? beforehand(scene, care, { ...waits, ...timed });
  if (early !== undefined) return early;
  if (end !== undefined) {
    const over = withHistory(now, memory.state.phase, failed(now, driver, end));
    return yield* closing({ ...now, memory: over }, scene, run, ended);
  }
  if (told.length === 0 || isOwnRun(memory))
    return broughtBack(supplied(now, found, owned, { ...rest, stages: [strays, effects, told], spent }), told);
  if (untold(scene.view, told).length > 0)
    return { memory, stages: [strays, [...effects, ...spent], told], next: { do: "continue", ...rest } };
  return planOf({ ...scene, memory: allTold(scene.memory) }, allTold(scene.memory), found, {
    next: { do: "wait", ...rest },
  });
}

const knownBy = (driver: Driver, { pod }: Sighted): Driver =>
  pod === undefined ? driver : { ...driver, uid: pod.metadata.uid };

export function* monitorDriver(given: ApplicationContext, ended: Ended): Decision<Memory> {
  const found = yield* readPods(given);
  const scene = regained(given, found);
  const { memory } = scene;
  const { driver } = memory;
  if (driver === undefined)
    return planOf(scene, { ...memory, state: { phase: "PENDING_RERUN" } }, found, { next: { do: "again" } });
  const sighting = yield* sighted(scene, driver, found);
  const known = knownBy(driver, sighting);
  const back = recoveryWindow(scene, found, sighting);
  if (back.is === "awaited" && back.until !== undefined)
    return planOf(scene, { ...memory, driver: known }, found, awaiting(found, back.until));
  const { late, says = waitsFor(sighting.see, sighting.pod) } = yield* delayed(
    scene,
    { driver: known, found },
    sighting,
  );
  const after = late?.is === "late" ? failed(scene, known, late.end) : memoryAfter(scene, known, sighting);
  if (after === "resume") return yield* resume(scene, driver, found, ended);
  const isOver = after.state.phase === "SUCCEEDING" || after.state.phase === "FAILING";
  const next = withHistory(scene, scene.memory.state.phase, after);
  const following = isOver ? { ...memory, driver: known } : next;
  const doors = begun.has(sighting.see) ? yield* exposureOf({ ...scene, memory: following }) : { info: {} };
  const waits = { ...timesOf(back, late), waitsFor: says };
  if ("make" in doors) return { memory: doors.memory, stages: [doors.make], next: { do: "continue", ...waits } };
  const now = { ...scene, memory: next, info: doors.info };
  const run = { driver: known, found, body: running(sighting), open: back.is === "open", ends: back.ends, waits };
  return yield* isOver ? closing(now, scene, run, ended) : cared(now, run, ended);
}
