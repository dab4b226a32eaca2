/**
 * Judges an attack by the error that it threw and by the promises that hold for all: the host answers, runs on and
 * stays small, and the neighbour takes no longer than without the attack.
 */
import { type Attack, longestSilenceMs, mostResident } from "./attack.ts";
import { allowedMs, type Stand } from "./stand.ts";

export type Verdict = {
  readonly class: string;
  readonly name: string;
  readonly stage: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly problems: readonly string[];
  readonly ms: number;
  readonly neighbourMs: number;
  readonly silenceMs: number;
  readonly residentMiB: number;
  /** True if the neighbour's time is the only problem. */
  readonly onlySlow: boolean;
};

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

const tried = async <T>(work: Promise<T>): Promise<{ readonly value?: T; readonly problem?: string }> => {
  try {
    return { value: await work };
  } catch (cause) {
    return { problem: textOf(cause) };
  }
};

type Around = {
  readonly stand: Stand;
  /** The neighbour's times without an attack, ms. */
  readonly alone: readonly number[];
};

/** Runs an attack beside a neighbour's application and judges it. */
export const judged = async (attack: Attack, { stand, alone }: Around): Promise<Verdict> => {
  const { host } = stand;
  const began = performance.now();
  const since = Date.now();
  const before = host.resident();
  const [own, beside] = await Promise.all([tried(attack.run(stand)), tried(stand.neighbour())]);
  const neighbourMs = beside.value ?? Number.POSITIVE_INFINITY;
  const allowed = allowedMs(alone);
  const silenceMs = host.probe.longestSince(since);
  const residentMiB = host.resident();
  const isSlow = neighbourMs > allowed;
  const problems = [
    ...(own.problem === undefined ? [] : [own.problem]),
    ...(beside.problem === undefined ? [] : [`the neighbour: ${beside.problem}`]),
    ...(isSlow
      ? [`the neighbour's driver came after ${Math.round(neighbourMs)} ms: allowed are ${Math.round(allowed)}`]
      : []),
    ...(silenceMs > longestSilenceMs ? [`the host was silent for ${Math.round(silenceMs)} ms`] : []),
    ...(residentMiB > mostResident && residentMiB > before ? [`the host grew to ${Math.round(residentMiB)} MiB`] : []),
    ...(host.exited() ? [`the host ended; the end of its log: ${host.log().slice(-2_000)}`] : []),
  ];
  const skipped = problems.length === 0 && typeof own.value === "string";
  return {
    ...{ class: attack.class, name: attack.name, stage: attack.stage },
    outcome: problems.length > 0 ? "failed" : skipped ? "skipped" : "passed",
    problems: skipped ? [own.value ?? ""] : problems,
    ms: Math.round(performance.now() - began),
    ...{ neighbourMs: Math.round(neighbourMs), silenceMs: Math.round(silenceMs), residentMiB: Math.round(residentMiB) },
    onlySlow: isSlow && problems.length === 1,
  };
};
