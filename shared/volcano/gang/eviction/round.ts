/**
 * The part of an admission round that evicts pods for groups that lack room: it carries out the nominations that earlier
 * rounds have saved, and nominates further groups. A round evicts nothing for a nomination that is not saved yet. Loaded only
 * where the deployment evicts.
 */
import { all, get, list, type Reads } from "../../../core/decision.ts";
import { fieldsOf, recordsIn } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { podSpecIn } from "../../../kube/pods.ts";
import { priorityClasses } from "../../../kube/resources.ts";
import { specOf } from "../../queue/state/tree.ts";
import type { Verdict } from "../admission.ts";
import type { Evicting, EvictionInput, EvictionRound } from "../eviction-port.ts";
import type { RoundPlanner } from "../ground.ts";
import { jobOwnerOf, statedMembers } from "../outlines.ts";
import type { GangEviction } from "../settings.ts";
import type { Nomination } from "../state/memory.ts";
import { allBudgets, allowed } from "./budgets.ts";
import { type Choice, choose } from "./choice.ts";
import { isClaimant, openReclaim, preemptible } from "./claims.ts";
import { carryOut, openIn } from "./nominations.ts";
import { type Classes, isVictim, type Unit, unitsOf } from "./victims.ts";

type Mode = Exclude<GangEviction, "none">;

/** The most nominations at a time: each is kept in the queue's record. */
const mostNominations = 8;

/** The most groups for which a round looks for victims. */
const mostTried = 16;

/** The most priority classes that are read; groups of further ones neither evict nor are evicted. */
const mostClasses = 100;

const classOf = (group: Stored): string => String(specOf(group)["priorityClassName"] ?? "");

function* readClasses(names: readonly string[]): Reads<Classes> {
  const found = yield* all(names.map((name) => get({ do: "get", ref: { resource: priorityClasses, name } })));
  const known = names.flatMap((name, at) => (found[at] === undefined ? [] : [{ name, object: found[at] }]));
  return {
    values: new Map(
      known.flatMap(({ name, object: { value } }) => (typeof value === "number" ? [[name, value] as const] : [])),
    ),
    peaceful: new Set(known.filter(({ object }) => object["preemptionPolicy"] === "Never").map(({ name }) => name)),
  };
}

const ofSpec = (spec: unknown): string => String(fieldsOf(spec)["priorityClassName"] ?? "");

/** The classes that a waiting group and its pods name. */
const classesOf = (group: Stored, jobs: ReadonlyMap<string, Stored>): readonly string[] => {
  const job = jobs.get(jobOwnerOf(group)?.uid ?? "");
  const tasks = recordsIn(job === undefined ? [] : specOf(job)["tasks"]);
  const members = statedMembers(group)?.members ?? [];
  return [
    classOf(group),
    ...tasks.map(({ template }) => ofSpec(podSpecIn(template))),
    ...members.map(({ spec }) => ofSpec(spec)),
  ];
};

type Room = {
  readonly classes: Classes;
  readonly units: readonly Unit[];
  readonly reclaim: ReturnType<typeof openReclaim>;
  readonly budgets: readonly Stored[];
};

const lacksRoom = (verdict: Verdict): boolean => !verdict.enters && verdict.lacksRoom === true;

const ways = (mode: Mode): readonly Nomination["way"][] => (mode === "all" ? ["preempt", "reclaim"] : [mode]);

type Way = Nomination["way"];

type Found = { readonly choice: Choice; readonly way: Way };

/** Finds the pods to evict for one group. */
const findFor = (mode: Mode, group: Stored, ground: RoundPlanner, room: Room): Found | undefined =>
  ground.look(group, (left) => {
    const claimant = { group, parts: left.parts };
    if (!isClaimant(claimant, room.classes)) return undefined;
    for (const way of ways(mode)) {
      const units =
        way === "preempt" ? preemptible(claimant, room.units, room.classes) : room.reclaim(claimant, room.units);
      const choice = choose(left, allowed(units, room.budgets));
      if (choice !== undefined) return { choice, way };
    }
    return undefined;
  });

const nominationOf = (group: Stored, { choice: { units, places }, way }: Found, now: number): Nomination => {
  const { uid, namespace = "", name } = group.metadata;
  const byGroup = Map.groupBy(units, (unit) => unit.group.metadata.uid);
  const victims = [...byGroup].map(([victim, its]) => {
    const pods = its.flatMap((unit) => unit.pods).map((pod) => [pod.metadata.uid, pod.metadata.name] as const);
    return [victim, { whole: its.some(({ isWhole }) => isWhole), pods: Object.fromEntries(pods) }] as const;
  });
  return {
    uid,
    group: `${namespace}/${name}`,
    at: now,
    way,
    places: [...places],
    victims: Object.fromEntries(victims),
  };
};

const victimsOf = (nominations: readonly Nomination[]): ReadonlySet<string> =>
  new Set(nominations.flatMap(({ victims }) => Object.keys(victims)));

const podsIn = (nominations: readonly Nomination[]): ReadonlySet<string> =>
  new Set(nominations.flatMap(({ victims }) => Object.values(victims).flatMap(({ pods }) => Object.keys(pods))));

function* readRoom(input: EvictionInput, kept: readonly Nomination[]): Reads<Room> {
  const { groups, queues, ground, verdicts, jobs } = input;
  const given = victimsOf(kept);
  const victims = groups.filter((group) => isVictim(group) && !given.has(group.metadata.uid));
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const waiting = verdicts.filter(lacksRoom).slice(0, mostTried);
  const named = [...waiting.flatMap(({ group }) => classesOf(group, byUid)), ...victims.map(classOf)];
  const names = [...new Set(named)].filter(Boolean).slice(0, mostClasses);
  const [classes, budgets] = yield* all([readClasses(names), list(allBudgets)]);
  const { podsOf } = ground;
  const units = unitsOf({
    ...{ groups: victims, podsOf, classes },
    jobs: { byUid, priorities: classes.values, work: { looks: 0 } },
  });
  const nominated = new Set(kept.map(({ uid }) => uid));
  const reclaim = openReclaim({ queues, groups, podsOf, leaving: podsIn(kept), nominated });
  return { classes, units, reclaim, budgets };
}

/** Nominates groups, one at a time: no round chooses victims for two groups, because each changes what the next may take. */
function* nominate(mode: Mode, input: EvictionInput, kept: readonly Nomination[]): Reads<readonly Nomination[]> {
  const { groups, ground, verdicts, now } = input;
  const nominated = new Set(kept.map(({ uid }) => uid));
  const waiting = verdicts.filter((one) => lacksRoom(one) && !nominated.has(one.group.metadata.uid));
  if (waiting.length === 0 || kept.length >= mostNominations || !groups.some(isVictim)) return [];
  const room = yield* readRoom(input, kept);
  if (room.units.length === 0) return [];
  for (const { group } of waiting.slice(0, mostTried)) {
    const found = findFor(mode, group, ground, room);
    if (found === undefined) continue;
    return [nominationOf(group, found, now)];
  }
  return [];
}

function* round(mode: Mode, input: EvictionInput): Reads<EvictionRound> {
  const { nominations, groups, ground, entering, now } = input;
  const { kept, events, marks, evictions } = carryOut(nominations, entering, { groups, podsOf: ground.podsOf, now });
  const fresh = yield* nominate(mode, input, kept);
  return {
    nominations: [...kept, ...fresh],
    stages: [events, marks, ...evictions].filter((stage) => stage.length > 0),
    isMore: fresh.length > 0 || marks.length > 0,
  };
}

/** Makes the part of rounds that evicts in this mode. */
export const evictingIn = (mode: Mode): Evicting => ({
  openIn,
  givingIn: (groups) => groups.filter(isVictim),
  round: (input) => round(mode, input),
});
