/**
 * Growths of a run with Kueue's queue label, in its step: reads them before executors are allocated, and asks Kueue for
 * more, or gives quota back, after that. While Kueue does not answer, executors are replaced within what it admitted.
 */
import { list, type Reads } from "../../../core/decision.ts";
import { isLabelValue, type Stored } from "../../../core/object.ts";
import type { Effect, Listing } from "../../../core/plan.ts";
import { conditionIn, jobUidLabel, ownWorkloads, workloads } from "../../../kube/kueue.ts";
import { isGrowthOf } from "../../../kube/kueue-growth.ts";
import { readPlacements } from "../../../kube/kueue-placement.ts";
import { ownedBy } from "../../../kube/pods.ts";
import { underwayIn } from "../../executors/allocation.ts";
import { type Allotment, grantedAt, isLiving } from "../../executors/allotment.ts";
import { flavorsNameOf, occupiedOn, podSet } from "../../executors/flavors.ts";
import { totalOf } from "../../executors/grants.ts";
import {
  type Growth,
  type GrowthPlan,
  grantedBy,
  growthCreation,
  growthOf,
  growthPlan,
} from "../../executors/growth.ts";
import { grantWord, type QuotaUse, useAfter, useOfBase } from "../../executors/quota-use.ts";
import { podsOf } from "../../schema/pod-query.ts";
import { sparkApplications } from "../../schema/resource.ts";
import { podLabels } from "../../submission/additions.ts";
import { type ApplicationContext, rareOf } from "../run/context.ts";
import type { Memory } from "../state/memory.ts";
import { type AllocationResult, roomOf, type Situation } from "./allocation-result.ts";
import { executorNeeds } from "./executor-builder.ts";
import { baseIn, unadmittedWait, wantedIn } from "./lookup.ts";
import { baseNodesIn, withoutNodes } from "./placement.ts";

/** The growths of a run, and the flavors of its base, where they are known. */
type Known = { readonly growths: readonly Growth[]; readonly flavors?: string | undefined };

/** The executors that the growths among these Workloads grant. */
const grantedIn = (found: readonly Stored[], uid: string): number =>
  totalOf(grantedBy(found.filter((one) => isGrowthOf(one, uid)).map((one) => growthOf(one, undefined))));

/** Reads the growths of a run, live; a second time where another number is granted than before: a list may be behind. A run that has never asked for one has none, unless its record was lost. */
export function* readGrowths(context: ApplicationContext): Reads<Known> {
  const { memory, view } = context;
  const { grown, claimsFrom } = memory.allotment ?? {};
  const mayHave = memory.rare?.includes("growth") === true || claimsFrom !== undefined;
  if (baseIn(context) === undefined || !mayHave) return { growths: [] };
  const { spared: _, ...listing } = rareOf(context, "growth");
  // An API server that does not serve the kind any more may have just begun to: no executor ends for that.
  const first = yield* list({ ...listing, ...(grown === undefined ? { spared: true } : {}) });
  const isNews = grantedIn(first, view.uid) !== totalOf(grown ?? {});
  const found = isNews ? yield* list({ ...listing, labels: { ...listing.labels, ...ownWorkloads } }) : first;
  const growths = found.filter((one) => isGrowthOf(one, view.uid));
  const known = memory.allotment?.flavors;
  const own = growths.length === 0 || known !== undefined ? undefined : yield* readOwn(context);
  const flavors = own === undefined ? known : flavorsNameOf(own);
  return { growths: growths.map((one) => growthOf(one, flavors)), flavors };
}

/** The allotment with the executors that growths grant now, and the flavors of the base. */
export const withGrown = (
  { grown: _, ...allotment }: Allotment,
  growths: readonly Growth[],
  flavors: string | undefined,
): Allotment => {
  const grown = grantedBy(growths);
  return {
    ...allotment,
    ...(totalOf(grown) === 0 ? {} : { grown }),
    ...(flavors === undefined ? {} : { flavors }),
  };
};

/** Lists the Workload by which Kueue has admitted the application itself. */
const ownWorkload = ({ key, view }: ApplicationContext): Listing => ({
  ...{ do: "list", resource: workloads, namespace: key.namespace, labels: { [jobUidLabel]: view.uid } },
  ...{ spared: true, optional: true },
});

function* readOwn(context: ApplicationContext): Reads<Stored | undefined> {
  return (yield* list(ownWorkload(context))).find((one) => ownedBy(one, context.view.uid));
}

/** Reads the nodes of the flavors that the next executors are for, where executors lack and these are not the base's. */
export function* withPlacement(situation: Situation): Reads<Situation> {
  const { context, members, expected, allotment, growths } = situation;
  const { flavors } = roomOf(situation);
  if (flavors === "" || members.filter(isLiving).length + underwayIn(allotment) >= expected) return situation;
  const growth = growths.find((one) => one.state === "granted" && one.flavors === flavors);
  const own = yield* readOwn(context);
  if (growth === undefined || own === undefined) return { ...situation, lacks: noWorkload };
  const { placements, lacks } = yield* readPlacements(growth.workload);
  const nodes = placements.get(podSet);
  if (nodes === undefined) return { ...situation, lacks: lacks ?? noWorkload };
  return { ...situation, placement: { flavors, nodes, base: baseNodesIn(context, own) } };
}

const noWorkload = "growing needs Kueue's own Workload of the application, and there is none";

/** Creates a growth of as many executors; undefined while Kueue has no Workload of the application itself. */
function* created({ context, driver, pod, growths }: Situation, executors: number): Reads<Effect | undefined> {
  const { key, view } = context;
  const { queue = "" } = baseIn(context) ?? {};
  const spec = executorNeeds(context, driver, pod);
  if (spec === undefined || !isLabelValue(view.uid)) return undefined;
  const own = yield* readOwn(context);
  if (own === undefined) return undefined;
  const { attempt, submissionId } = driver;
  const app = { name: key.name, namespace: key.namespace, uid: view.uid };
  const run = { ...app, attempt, labels: { ...podsOf(key).labels, ...podLabels({ app, attempt, submissionId }) } };
  return growthCreation(run, { growths, queue, executors, own, spec: withoutNodes(spec, baseNodesIn(context, own)) });
}

const remembering = (memory: Memory): Memory => ({
  ...memory,
  rare: [...new Set([...(memory.rare ?? []), "growth" as const])].sort(),
});

/** The reason why a growth waits, in Kueue's words. */
const wordsOf = (workload: Stored): string => {
  const { message } = conditionIn(workload, "QuotaReserved") ?? {};
  return typeof message === "string" ? message : "";
};

const waitOf = ({ waiting, asks }: GrowthPlan, creation: Effect | undefined): string => {
  if (waiting !== undefined) return wordsOf(waiting.workload);
  return asks > 0 && creation === undefined ? noWorkload : "";
};

/** Records once a run that Kueue has evicted this growth: its name stands for the run. */
const evictionOf = ({ context: { object } }: Situation, { workload }: Growth): Effect => ({
  do: "record",
  about: object,
  resource: sparkApplications,
  occasion: `eviction of ${workload.metadata.name}`,
  type: "Warning",
  reason: "ExecutorsEvicted",
  message: `Kueue evicted ${workload.metadata.name}, so as many executors leave as it granted`,
});

/** The use of quota after this look; undefined for a run without growths, and where its record was lost. */
const useOf = (
  { driver, growths, allotment }: Situation,
  { base, begins, now }: { readonly base: number; readonly begins: boolean; readonly now: number },
): QuotaUse | undefined => {
  const { quota, claimsFrom } = allotment;
  const isFirst = begins && growths.length === 0 && claimsFrom === undefined;
  const before = quota ?? (isFirst ? useOfBase(driver.submittedAt, base) : undefined);
  const waits = growths.filter(({ state }) => state === "waiting").reduce((sum, { executors }) => sum + executors, 0);
  return before && useAfter(before, base + totalOf(grantedBy(growths)), waits, now);
};

/** Records the changes of what is granted: that of the step before again, then that of this step. */
const grantEvents = (
  { context: { object, memory } }: Situation,
  uses: readonly (QuotaUse | undefined)[],
): readonly Effect[] =>
  [...new Set(uses)].flatMap((use): readonly Effect[] => {
    const word = use && grantWord(use);
    if (word === undefined) return [];
    const occasion = `grant of attempt ${memory.attempt} at ${use?.[0]}`;
    return [{ do: "record", about: object, resource: sparkApplications, occasion, type: "Normal", ...word }];
  });

/** Adds what a step does about the run's growths, after all else that it does. */
export function* withGrowth(situation: Situation, result: AllocationResult): Reads<AllocationResult> {
  const { context, members, growths } = situation;
  const { allotment } = result.memory;
  const base = baseIn(context)?.executors;
  if (base === undefined || allotment?.listens !== true) return result;
  const { now } = context.view;
  const occupied = (flavors: string): number => occupiedOn(flavors, members, allotment);
  const wanted = Math.min(wantedIn(context, allotment.demand), grantedAt([allotment.grant], now));
  const running = members.filter(({ state }) => state === "running").length;
  const plan = growthPlan({ growths, base, wanted, occupied, running, now });
  const creation = plan.asks > 0 ? yield* created(situation, plan.asks) : undefined;
  const evictions = growths.filter(({ state }) => state === "evicted").map((one) => evictionOf(situation, one));
  const quota = useOf({ ...situation, allotment }, { base, begins: creation !== undefined, now });
  const grants = grantEvents(situation, [allotment.quota, quota]);
  const effects = [...evictions, ...grants, ...plan.effects, ...(creation === undefined ? [] : [creation])];
  const wait = waitOf(plan, creation);
  const granted = members.filter(isLiving).length;
  const { lacks } = situation;
  const memory = creation === undefined && growths.length === 0 ? result.memory : remembering(result.memory);
  return {
    ...result,
    ...(lacks === undefined ? {} : { waitsFor: { on: "grant", wanted, granted, why: lacks } }),
    ...(wait === "" || allotment.grant !== undefined ? {} : unadmittedWait(context, allotment.demand, wait)),
    memory: quota === allotment.quota ? memory : { ...memory, allotment: { ...allotment, quota } },
    ...(effects.some((effect) => "subresource" in effect) ? { live: true } : {}),
    stages: effects.length === 0 ? result.stages : [...result.stages, effects],
  };
}
