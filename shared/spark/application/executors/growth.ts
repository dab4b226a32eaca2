/**
 * Growths of a run with Kueue's queue label, in its step: reads them before executors are allocated, and asks Kueue for
 * more, or gives quota back, after that. While Kueue does not answer, executors are replaced within what it admitted.
 */
import { list, type Reads } from "../../../core/decision.ts";
import { isLabelValue, type Stored } from "../../../core/object.ts";
import type { Effect, Listing } from "../../../core/plan.ts";
import { conditionIn, jobUidLabel, workloads } from "../../../kube/kueue.ts";
import { ownedBy } from "../../../kube/pods.ts";
import { underwayIn } from "../../executors/allocation.ts";
import { type Allotment, grantedAt, isLiving } from "../../executors/allotment.ts";
import {
  type Growth,
  type GrowthPlan,
  grantedBy,
  growthCreation,
  growthOf,
  growthPlan,
} from "../../executors/growth.ts";
import { podLabels, reference } from "../../submission/additions.ts";
import { type ApplicationContext, rareOf } from "../run/context.ts";
import type { Memory } from "../state/memory.ts";
import type { AllocationResult, Situation } from "./allocation-result.ts";
import { executorNeeds } from "./executor-builder.ts";
import { baseIn, unadmittedWait, wantedIn } from "./lookup.ts";

/** Reads the growths of a run, live. A run that has never asked for one has none, unless its record was lost. */
export function* readGrowths(context: ApplicationContext): Reads<readonly Growth[]> {
  const { memory, view } = context;
  const { grown, claimsFrom } = memory.allotment ?? {};
  const mayHave = memory.rare?.includes("growth") === true || claimsFrom !== undefined;
  if (baseIn(context) === undefined || !mayHave) return [];
  const { spared: _, ...listing } = rareOf(context, "growth");
  // An API server that does not serve the kind any more may have just begun to: no executor ends for that.
  const found = yield* list({ ...listing, ...(grown === undefined ? { spared: true } : {}) });
  return found.filter((one) => ownedBy(one, view.uid)).map(growthOf);
}

/** The allotment with the executors that growths grant now. */
export const withGrown = ({ grown: _, ...allotment }: Allotment, growths: readonly Growth[]): Allotment => {
  const grown = grantedBy(growths);
  return grown === 0 ? allotment : { ...allotment, grown };
};

/** Lists the Workload by which Kueue has admitted the application itself. */
const ownWorkload = ({ key, view }: ApplicationContext): Listing => ({
  ...{ do: "list", resource: workloads, namespace: key.namespace, labels: { [jobUidLabel]: view.uid } },
  ...{ spared: true, optional: true },
});

/** Creates a growth of as many executors; undefined while Kueue has no Workload of the application itself. */
function* created(
  { context, driver, pod }: Situation,
  growths: readonly Growth[],
  executors: number,
): Reads<Effect | undefined> {
  const { key, view } = context;
  const { queue = "" } = baseIn(context) ?? {};
  const spec = executorNeeds(context, driver, pod);
  if (spec === undefined || !isLabelValue(view.uid)) return undefined;
  const own = (yield* list(ownWorkload(context))).find((one) => ownedBy(one, view.uid));
  if (own === undefined) return undefined;
  const { attempt, submissionId } = driver;
  const app = { name: key.name, namespace: key.namespace, uid: view.uid };
  const run = { ...app, attempt, labels: podLabels({ app, attempt, submissionId }), owner: reference(app) };
  return growthCreation(run, { growths, queue, executors, own, spec });
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

const noWorkload = "growing needs Kueue's own Workload of the application, and there is none";

const waitOf = ({ waiting, asks }: GrowthPlan, creation: Effect | undefined): string => {
  if (waiting !== undefined) return wordsOf(waiting.workload);
  return asks > 0 && creation === undefined ? noWorkload : "";
};

/** Adds what a step does about the run's growths, after all else that it does. */
export function* withGrowth(
  situation: Situation,
  growths: readonly Growth[],
  result: AllocationResult,
): Reads<AllocationResult> {
  const { context, members } = situation;
  const { allotment } = result.memory;
  const base = baseIn(context)?.executors;
  if (base === undefined || allotment?.listens !== true) return result;
  const { now } = context.view;
  const occupied = members.filter((one) => isLiving(one) || one.state === "ending").length + underwayIn(allotment);
  const wanted = Math.min(wantedIn(context, allotment.demand), grantedAt([allotment.grant], now));
  const plan = growthPlan({ growths, base, wanted, occupied, now });
  const creation = plan.asks > 0 ? yield* created(situation, growths, plan.asks) : undefined;
  const effects = [...plan.effects, ...(creation === undefined ? [] : [creation])];
  const wait = waitOf(plan, creation);
  return {
    ...result,
    ...(wait === "" || allotment.grant !== undefined ? {} : unadmittedWait(context, allotment.demand, wait)),
    memory: creation === undefined && growths.length === 0 ? result.memory : remembering(result.memory),
    ...(effects.some((effect) => "subresource" in effect) ? { live: true } : {}),
    stages: effects.length === 0 ? result.stages : [...result.stages, effects],
  };
}
