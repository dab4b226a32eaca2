/** The loop of a run: the next delivery, or the first due event, until nothing is left. */

import { type Stage, settle } from "./execution.ts";
import { userApplies, userDoes } from "./user-actions.ts";

/** A run that exceeds these bounds has not converged. */
export type Bounds = { readonly invocations: number; readonly ms: number };

const usual: Bounds = { invocations: 400, ms: 4 * 3_600_000 };

const nextDue = (stage: Stage): number => {
  const { theatre, post, agenda, armed, down, nextSweep, nextLook } = stage;
  const times = [
    theatre.simulator.clock.nextDue(),
    ...(down ? [] : [post.nextDue(), post.nextWindow(), nextSweep, nextLook]),
    ...agenda.map(({ at }) => at),
    ...armed.map(({ at }) => at),
  ];
  return Math.max(stage.now(), Math.min(...times.filter((time) => time !== undefined)));
};

/** Nothing is under way or due except the next resync. */
const isIdle = ({ theatre, post, agenda, armed, flights }: Stage): boolean => {
  const timers = theatre.simulator.clock.nextDue() !== undefined || agenda.length > 0 || armed.length > 0;
  return !timers && flights.size === 0 && post.waiting() === 0 && post.nextWindow() === undefined;
};

/** Only invocations are left that wait for their release. */
const isStuck = (stage: Stage): boolean =>
  stage.held.size > 0 && stage.held.size === stage.flights.size && nextDue(stage) === stage.nextSweep;

/** Runs due acts of users, and continues invocations whose wait is over. */
const keepAppointments = async (stage: Stage): Promise<void> => {
  const now = stage.now();
  for (const { index } of stage.armed.filter(({ at }) => at <= now)) {
    stage.armed = stage.armed.filter((one) => one.index !== index);
    const act = stage.theatre.scenario.acts[index];
    if (act === undefined) userApplies(stage);
    else userDoes(stage, act);
  }
  const due = stage.agenda.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at || a.order - b.order);
  stage.agenda = stage.agenda.filter(({ at }) => at > now);
  for (const { keep } of due) keep();
  if (due.length > 0) await settle();
};

/** Nothing is under way that a fork would not have: calls, appointments, a broken watch. */
const isQuiet = ({ down, flights, agenda, watchingIs }: Stage): boolean =>
  !down && flights.size === 0 && agenda.length === 0 && watchingIs === "on";

const actsDuring = (stage: Stage): void => {
  for (const { at, index } of stage.armed) {
    const act = stage.theatre.scenario.acts[index];
    if (act?.during !== true || at > stage.now()) continue;
    stage.armed = stage.armed.filter((one) => one.index !== index);
    userDoes(stage, act);
  }
};

const turn = async (stage: Stage): Promise<void> => {
  const { theatre, post } = stage;
  for (const sending of stage.down ? [] : post.due()) stage.send("forwarder", sending.message, sending.dedupeId);
  if (isQuiet(stage)) stage.onScene?.(stage.scene());
  const delivery = stage.down ? undefined : post.receive();
  if (delivery !== undefined) return stage.deliver(delivery);
  theatre.simulator.clock.advanceTo(nextDue(stage));
  await keepAppointments(stage);
  if (!stage.down && stage.now() >= stage.nextLook) await stage.look();
  if (!stage.down && stage.now() >= stage.nextSweep) await stage.sweep();
};

/** Runs until nothing is left before the next resync. False when that never comes. */
export const calm = async (stage: Stage, { invocations, ms }: Bounds = usual): Promise<boolean> => {
  const until = stage.now() + ms;
  stage.meanwhile = () => actsDuring(stage);
  while (!isIdle(stage)) {
    if (isStuck(stage)) for (const n of [...stage.held.keys()]) stage.levers.release(n);
    if (stage.count.invocations - stage.began > invocations || stage.now() > until) return false;
    await turn(stage);
  }
  return true;
};

/**
 * Runs until a complete resync, with all that follows from it, writes nothing. False when that never comes. A resync
 * that was refused, or died, does not count: the next one comes in any case.
 */
export const direct = async (stage: Stage, bounds: Bounds = usual): Promise<boolean> => {
  // Beside another controller a resync may find nothing because it died or judged by old sightings, so two are needed.
  const wanted = stage.writers === undefined ? 1 : 2;
  for (let quiet = 0; quiet < wanted; ) {
    if (!(await calm(stage, bounds)) || stage.count.invocations - stage.began > bounds.invocations) return false;
    const { changes, writes } = stage;
    stage.theatre.simulator.clock.advanceTo(stage.nextSweep);
    await stage.sweep();
    if (!(await calm(stage, bounds))) return false;
    stage.lateChanges += stage.changes - changes;
    quiet = stage.writes === writes && stage.swept ? quiet + 1 : 0;
  }
  return true;
};
