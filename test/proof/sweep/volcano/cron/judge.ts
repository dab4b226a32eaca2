/**
 * The invariants of a CronJob, beside those of all kinds that create jobs (`../makers.ts`).
 *
 * K1. A job is named after a time of the schedule that has passed. Times follow each other; of several missed ones
 *     only the latest has a job.
 * K2. With Forbid and Replace no job comes beside an unfinished one.
 * K3. An unfinished job is ended only with the policy Replace, a finished one only where the limit of newer ones is
 *     reached; no more are left at the end.
 */
import { numberAt, textAt } from "../../fields.ts";
import type { Oracle, Subject } from "../../oracle.ts";
import {
  type Child,
  type Facts,
  type Item,
  isOver,
  jobPhase,
  openMakerOracle,
  type Rules,
  resumed,
} from "../makers.ts";

const minuteMs = 60_000;
/** Interval of the scenarios' schedules, from the full hour on. */
export const everyMinutes = 12;

const minutesOf = (name: string): number => Number(/-(\d{8})$/.exec(name)?.[1] ?? Number.NaN);

const childrenOf = ({ children }: Facts): readonly Child[] => [...children.values()];

const policyOf = ({ object }: Facts): string => textAt(object, "spec", "concurrencyPolicy") || "Allow";

const goesOn = ({ gone, object }: Child): boolean =>
  !gone && !isOver(object) && object.metadata.deletionTimestamp === undefined;

const born = (facts: Facts, { name }: Child, now: number): readonly string[] => {
  const minutes = minutesOf(name);
  const earlier = childrenOf(facts).filter((child) => child.name !== name);
  const beside = earlier.filter(goesOn);
  const late = now - minutes * minuteMs >= (everyMinutes + 1) * minuteMs;
  return [
    ...(minutes % everyMinutes === 0 ? [] : [`K1: ${name} is named after no time of the schedule`]),
    ...(minutes * minuteMs > now ? [`K1: ${name} comes before its time`] : []),
    ...(late ? [`K1: ${name} comes when a later time is due`] : []),
    ...earlier
      .filter((child) => minutesOf(child.name) >= minutes)
      .map((child) => `K1: ${name} comes after ${child.name}`),
    ...(policyOf(facts) === "Allow" ? [] : beside.map((child) => `K2: ${name} comes beside ${child.name}`)),
  ];
};

/** The number of jobs with such an end that are kept, with the defaults of upstream's CRD. */
const limitOf = ({ object }: Facts, phase: string): number =>
  phase === "Completed"
    ? (numberAt(object, "spec", "successfulJobsHistoryLimit") ?? 3)
    : (numberAt(object, "spec", "failedJobsHistoryLimit") ?? 1);

const keptOf = (facts: Facts, phase: string): readonly Child[] =>
  childrenOf(facts).filter(({ gone, object }) => !gone && jobPhase(object) === phase);

const mayEnd = (facts: Facts, child: Child): boolean => {
  if (!isOver(child.object)) return policyOf(facts) === "Replace";
  const phase = jobPhase(child.object);
  const newer = keptOf(facts, phase).filter(({ name }) => minutesOf(name) > minutesOf(child.name));
  return newer.length >= limitOf(facts, phase);
};

const rest = (facts: Facts): readonly string[] => {
  const names = childrenOf(facts).map(({ name }) => minutesOf(name));
  const gaps = names.filter((at, nth) => nth > 0 && at - (names[nth - 1] ?? 0) !== everyMinutes);
  const isGapless = policyOf(facts) === "Allow" && !facts.signs.has(resumed);
  return [
    ...(isGapless && gaps.length > 0 ? [`K1: the jobs' times are ${names.join(", ")}`] : []),
    ...["Completed", "Failed"]
      .filter((phase) => facts.object?.["spec"] !== undefined && keptOf(facts, phase).length > limitOf(facts, phase))
      .map((phase) => `K3: ${keptOf(facts, phase).length} jobs are kept that are ${phase}`),
  ];
};

const rules: Rules = {
  kind: "CronJob",
  table: "cronjobs.batch.volcano.sh",
  phaseOf: (maker: Item) => {
    const { active } = Object(maker["status"]);
    return Array.isArray(active) && active.length > 0 ? "active" : "idle";
  },
  isStopped: (maker) => Object(maker["spec"]).suspend === true,
  moves: () => true,
  born,
  mayEnd,
  signs: () => [],
  rest,
};

export const openCronOracle = (subject: Subject): Oracle => openMakerOracle(rules, subject);
