/** One turn of letting groups in, taken under the key of the root queue: so that no two are decided on beside each other. */
import type { Stored } from "../../core/object.ts";
import type { Effect, Plan, Query, View } from "../../core/plan.ts";
import { queryId } from "../../core/plan.ts";
import { priorityClasses } from "../../kube/resources.ts";
import type { QueueMemory } from "../queue/memory.ts";
import { specOf } from "../queue/tree.ts";
import { podGroups } from "../resource.ts";
import { type Hall, isWaiting, type Verdict, verdictsOf } from "./admission.ts";
import { admissionEffects, mostAtOnce } from "./admit.ts";
import { type Found, find, type GangMode, isSchedulers } from "./scheduler.ts";

/** Every group of every namespace. */
export const allGroups: Query = { do: "list", resource: podGroups, namespace: "", labels: {}, spared: true };

type Looked = Pick<View<QueueMemory>, "seen" | "now" | "memory">;

const answerTo = ({ seen }: Looked, query: Query): readonly Stored[] | undefined => seen.get(queryId(query));

const classOf = (group: Stored): string => {
  const { priorityClassName } = specOf(group);
  return typeof priorityClassName === "string" ? priorityClassName : "";
};

const classQuery = (name: string): Query => ({ do: "get", ref: { resource: priorityClasses, name } });

const classesOf = (groups: readonly Stored[]): readonly string[] => [
  ...new Set(groups.filter(isWaiting).map(classOf).filter(Boolean)),
];

const prioritiesIn = (view: Looked, names: readonly string[]): ReadonlyMap<string, number> =>
  new Map(
    names.flatMap((name): readonly [string, number][] => {
      const value = answerTo(view, classQuery(name))?.[0]?.["value"];
      return typeof value === "number" ? [[name, value]] : [];
    }),
  );

export type AdmissionRound = {
  readonly found: Found;
  readonly effects: readonly Effect[];
  readonly rest: Pick<Plan<unknown>, "again" | "pollMs" | "waitsFor" | "rests">;
};

/** Whoever waits may be let in by what no watch shows: a scheduler that has gone. */
const pollMs = 30_000;

/** A scheduler that runs and does nothing is told of before long. */
const doubtMs = 10_000;

const restOf = (
  { admits, saying, silent, doubtful }: Found,
  verdicts: readonly Verdict[],
  waits: number,
): AdmissionRound["rest"] => {
  if (waits === 0) return { rests: true };
  if (admits === "scheduler")
    return {
      pollMs: doubtful === true ? doubtMs : pollMs,
      waitsFor: `${waits} groups to be let in: ${silent ?? saying}`,
    };
  const left = waits - verdicts.filter(({ enters }) => enters).length;
  return left === 0 ? { rests: true } : { pollMs, waitsFor: `room in their queues for ${left} groups` };
};

/** What to look at before the turn can be taken, or what it comes to. */
export const admissionRoundOf = (
  mode: GangMode,
  queues: readonly Stored[],
  view: Looked,
): AdmissionRound | readonly Query[] => {
  const groups = answerTo(view, allGroups);
  const who = find(mode, { ...view, queues, groups: groups ?? [] });
  if (groups === undefined) return "admits" in who ? [allGroups] : [...new Set([...who, allGroups])];
  if (!("admits" in who)) return who;
  const waits = groups.filter(isWaiting).length;
  if (who.admits === "scheduler") return { found: who, effects: [], rest: restOf(who, [], waits) };
  const names = classesOf(groups);
  const unseen = names.map(classQuery).filter((query) => answerTo(view, query) === undefined);
  if (unseen.length > 0) return unseen;
  const ours = groups.filter((group) => !(isWaiting(group) && isSchedulers(group, view.now)));
  const hall: Hall = { queues, groups: ours, priorities: prioritiesIn(view, names) };
  const verdicts = verdictsOf(hall);
  const all = admissionEffects(verdicts, view.now);
  const effects = all.slice(0, mostAtOnce);
  const more = all.length > effects.length ? { again: true } : {};
  return { found: who, effects, rest: { ...restOf(who, verdicts, waits), ...more } };
};
