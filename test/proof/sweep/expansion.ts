/**
 * Many cases with the same first faults. The case of these alone runs once, and hands on its states between two events
 * after them. Each case with one more fault forks from the last state before that fault; a case that another one has
 * equalled from such a state on, with the same fault to come, takes over its end and does not run.
 *
 * A fork is used only if its digest is that of the state it was taken from.
 */
import type { Baseline } from "./baseline.ts";
import type { Case, Making } from "./case.ts";
import { makingOf } from "./cases.ts";
import type { Continuations, Fork, Forked } from "./continuations.ts";
import {
  atSteps,
  type Beginning,
  beginningNamed,
  caseFor,
  isDrawn,
  isThird,
  lastAfter,
  nextSteps,
  type Step,
} from "./doubles.ts";
import { Execution } from "./execution.ts";
import { type Call, noFault } from "./fault.ts";
import type { Fixture } from "./fixture.ts";
import { runCase, type Verdict } from "./runner.ts";
import { stateDigest } from "./state-digest.ts";

/** Judges a case: `forked`, or the same one from its beginning. */
type Judge = (one: Case, forked: Forked | undefined, whole: Case) => Promise<Verdict>;

/** A scenario whose baseline has run. */
type Swept = { readonly fixture: Fixture; readonly baseline: Baseline; readonly continuations: Continuations };

export type Expanding = {
  readonly prepared: Swept;
  readonly judge: Judge;
  /** Takes a case and its verdict; false ends the expansion. */
  readonly told: (one: Case, verdict: Verdict) => boolean;
  readonly isChosen: (one: Case) => boolean;
};

const isFaithful = ({ fixture, continuations }: Swept, { snapshot, digest }: Fork): boolean =>
  stateDigest(new Execution(fixture, snapshot, noFault), continuations.parts) === digest;

/** A case that begins at a fork, and the steps that are still to come there. */
const forkedFrom = (
  fork: Fork | undefined,
  one: Case,
  steps: readonly Step[],
): [one: Case, forked: Forked | undefined] => {
  if (fork === undefined) return [one, undefined];
  const { calls } = fork.snapshot.count;
  const left = steps.filter(({ at }) => at > calls);
  const key = [fork.digest, ...left.flatMap(({ at, fault }) => [at - calls, fault.name])].join(" ");
  return [
    { ...one, fault: () => atSteps(left) },
    { fork, key },
  ];
};

/** Runs the case of a beginning, and returns its calls and the states from which others may fork. */
const begun = async (
  { fixture, baseline, continuations }: Swept,
  [one, forked]: readonly [Case, Forked | undefined],
  until: number,
) => {
  const forks: Fork[] = forked === undefined ? [] : [forked.fork];
  let calls: readonly Call[] = [];
  const verdict = await runCase(fixture, baseline, one, {
    ...{ continuations, forked },
    forks: { until, add: (fork) => forks.push(fork) },
    calls: (all) => {
      calls = all;
    },
  });
  return { verdict, forks, calls };
};

const expandFrom = async (
  expanding: Expanding,
  making: Making,
  beginning: Beginning,
  fork: Fork | undefined,
): Promise<boolean> => {
  const { prepared, judge, told, isChosen } = expanding;
  const { scenario } = prepared.fixture;
  const itself = caseFor(making, beginning.first, beginning.steps);
  const run = await begun(prepared, forkedFrom(fork, itself, beginning.steps), lastAfter(making, beginning));
  if (run.verdict.violations.length > 0 && !told(itself, run.verdict)) return false;
  const forks = run.forks.filter((one) => isFaithful(prepared, one));
  for (const step of nextSteps(making, beginning, run.calls)) {
    const steps = [...beginning.steps, step];
    const one = caseFor(making, beginning.first, steps);
    if (!isChosen(one) || !isDrawn(scenario, one.id)) continue;
    const nearest = forks.findLast(({ snapshot }) => snapshot.count.calls < step.at);
    if (steps.length === 2 && isThird(making, scenario, one.id)) {
      if (!(await expandFrom(expanding, making, { ...beginning, steps }, nearest))) return false;
    }
    const [forkedOne, forked] = forkedFrom(nearest, one, steps);
    if (!told(one, await judge(forkedOne, forked, one))) return false;
  }
  return true;
};

/** Runs all cases that begin with the faults of a case. */
export const expand = async (expanding: Expanding, one: Case): Promise<void> => {
  const { fixture, baseline } = expanding.prepared;
  const making = makingOf(baseline, fixture.scenario);
  const beginning = beginningNamed(making, one.id);
  if (beginning !== undefined) await expandFrom(expanding, making, beginning, undefined);
};
