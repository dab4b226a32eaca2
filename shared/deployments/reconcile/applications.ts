/** The operator of SparkApplications of a function, loaded with the first message for one. */
import type { Operator } from "../../core/operator.ts";
import { promptness, settledMs, type Timing, timing as usualTiming } from "../../engine/settings.ts";
import { type Family, families } from "../../kube/resources.ts";
import { sparkApplication } from "../../spark/application/decide.ts";
import { defaultOptions, type Options } from "../../spark/auxiliary-objects/options.ts";
import { type GangMode, isPlanning } from "../../volcano/gang/settings.ts";
import { inCluster } from "../common/step-dependencies.ts";

/** Settings of a deployment for its SparkApplications. */
export type ApplicationSettings = {
  /** Options of Spark submissions; absent: the defaults. */
  readonly options?: Options;
  /** Options of Volcano queues; absent: the defaults. */
  readonly queues?: { readonly gang?: GangMode };
  /** Families to run; absent: all. */
  readonly families?: readonly Family[];
  /** Absent: the defaults. */
  readonly timing?: Timing;
};

/** Groups start by plans where the deployment makes them, too: in the steps of queues. */
const isGanging = ({ queues, families: chosen = families }: ApplicationSettings): boolean =>
  isPlanning(queues?.gang) && chosen.includes("volcano");

/** Opens the operator; what starts groups is loaded only where they start by plans. */
export const applications = async (settings: ApplicationSettings): Promise<Operator<unknown>> => {
  const { options = defaultOptions, timing = usualTiming } = settings;
  const gang = isGanging(settings)
    ? { gang: (await import("../../spark/application/gang/admission.ts")).startWhole }
    : {};
  const prompt = promptness(timing);
  return sparkApplication({ apiServer: inCluster, settledMs: settledMs(timing), prompt, options, ...gang });
};
