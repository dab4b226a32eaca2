/** The event loop of an execution: the next delivery, or the first due event, until nothing is left. */
import { type Execution, settle } from "./execution.ts";
import { nextDue } from "./state-digest.ts";
import { userApplies, userDoes } from "./user-actions.ts";

/** An execution that exceeds these bounds has not converged. */
export type Bounds = { readonly invocations: number; readonly ms: number };

const usual: Bounds = { invocations: 400, ms: 4 * 3_600_000 };

/** Nothing is under way or due except the next resync. */
const isIdle = ({ fixture, post, agenda, armed, flights }: Execution): boolean => {
  const timers = fixture.simulator.clock.nextDue() !== undefined || agenda.length > 0 || armed.length > 0;
  return !timers && flights.size === 0 && post.waiting() === 0 && post.nextWindow() === undefined;
};

/** Only invocations are left that wait for their release. */
const isStuck = (execution: Execution): boolean =>
  execution.held.size > 0 &&
  execution.held.size === execution.flights.size &&
  nextDue(execution) === execution.nextSweep;

/** Runs due user actions, and continues invocations whose wait is over. */
const keepAppointments = async (execution: Execution): Promise<void> => {
  const now = execution.now();
  for (const { index } of execution.armed.filter(({ at }) => at <= now)) {
    execution.armed = execution.armed.filter((one) => one.index !== index);
    const userAction = execution.fixture.scenario.userActions[index];
    if (userAction === undefined) userApplies(execution);
    else userDoes(execution, userAction);
  }
  const due = execution.agenda.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at || a.order - b.order);
  execution.agenda = execution.agenda.filter(({ at }) => at > now);
  for (const { keep } of due) keep();
  if (due.length > 0) await settle();
};

/** Nothing is under way that a fork would not have: calls, appointments, a broken watch. */
const isQuiet = ({ down, flights, agenda, watchingIs }: Execution): boolean =>
  !down && flights.size === 0 && agenda.length === 0 && watchingIs === "on";

const userActionsDuring = (execution: Execution): void => {
  for (const { at, index } of execution.armed) {
    const userAction = execution.fixture.scenario.userActions[index];
    if (userAction?.during !== true || at > execution.now()) continue;
    execution.armed = execution.armed.filter((one) => one.index !== index);
    userDoes(execution, userAction);
  }
};

/** True when the execution is between two events, in a state whose continuation is known. */
const turn = async (execution: Execution): Promise<boolean> => {
  const { fixture, post } = execution;
  for (const sending of execution.down ? [] : post.due())
    execution.send("forwarder", sending.message, sending.dedupeId);
  if (isQuiet(execution)) execution.onSnapshot?.(execution.snapshot());
  const delivery = execution.down ? undefined : post.receive();
  if (delivery !== undefined) {
    await execution.deliver(delivery);
    return false;
  }
  if (isQuiet(execution) && execution.recognises?.() === true) return true;
  // A key that came twice may have been the last thing due: a fork of this moment waits for nothing either.
  if (isIdle(execution)) return false;
  fixture.simulator.clock.advanceTo(nextDue(execution));
  await keepAppointments(execution);
  if (!execution.down && execution.now() >= execution.nextLook) await execution.look();
  if (!execution.down && execution.now() >= execution.nextSweep) await execution.sweep();
  return false;
};

/** Runs until nothing is left before the next resync, or what follows is known. False when that never comes. */
export const calm = async (execution: Execution, { invocations, ms }: Bounds = usual): Promise<boolean> => {
  const until = execution.now() + ms;
  execution.meanwhile = () => userActionsDuring(execution);
  while (!isIdle(execution)) {
    if (isStuck(execution)) for (const n of [...execution.held.keys()]) execution.levers.release(n);
    if (execution.count.invocations - execution.began > invocations || execution.now() > until) return false;
    if (await turn(execution)) return true;
  }
  return true;
};

/**
 * Runs until a complete resync, with all that follows from it, writes nothing. False when that never comes. A resync
 * that was refused, or died, does not count: the next one comes in any case.
 */
export const runToRest = async (execution: Execution, bounds: Bounds = usual): Promise<boolean> => {
  // Beside another controller a resync may find nothing because it died or judged by old sightings, so two are needed.
  const wanted = execution.isBeside() ? 2 : 1;
  for (let quiet = 0; quiet < wanted; ) {
    if (!(await calm(execution, bounds)) || execution.count.invocations - execution.began > bounds.invocations)
      return false;
    if (execution.recognises?.() === true) return true;
    const { changes, writes } = execution;
    execution.fixture.simulator.clock.advanceTo(execution.nextSweep);
    await execution.sweep();
    const { recognises } = execution;
    execution.recognises = undefined; // A continuation begins before a resync, and not within.
    const calmed = await calm(execution, bounds);
    execution.recognises = recognises;
    if (!calmed) return false;
    execution.lateChanges += execution.changes - changes;
    quiet = execution.writes === writes && execution.swept ? quiet + 1 : 0;
  }
  return true;
};
