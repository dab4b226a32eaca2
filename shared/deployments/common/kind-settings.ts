/** The settings of a deployment as its kinds take them, and the parts that only some deployments load. */
import { promptness, settledMs, type Timing, timing as usualTiming } from "../../engine/settings.ts";
import { defaultFamilies, type Family } from "../../kube/resources.ts";
import type { KindSettings } from "../../registry/settings.ts";
import { defaultOptions, type Options } from "../../spark/auxiliary-objects/options.ts";
import { type GangEviction, isPlanning } from "../../volcano/gang/settings.ts";
import type { QueueOptions } from "../../volcano/queue/decide.ts";
import { inCluster } from "./step-dependencies.ts";

/** Settings of a deployment for its kinds; each one that is absent has its default. */
export type DeploymentKinds = {
  readonly timing?: Timing | undefined;
  /** Options of Spark submissions. */
  readonly options?: Options | undefined;
  /** Options of Volcano's queues. */
  readonly queues?: QueueOptions | undefined;
  /** Families to run; absent: the default ones. */
  readonly families?: readonly Family[] | undefined;
};

/** True where groups start by plans: the deployment makes them in the steps of queues. */
const plans = ({ queues, families = defaultFamilies }: DeploymentKinds): boolean =>
  isPlanning(queues?.gang) && families.includes("volcano");

/** How groups that lack room get that of others; undefined: they do not. */
const eviction = ({ queues: { gang, gangEvict = "none" } = {} }: DeploymentKinds) =>
  gang === "builtin" && gangEvict !== "none" ? gangEvict : undefined;

/** The parts that start groups whole, and that evict pods for them. */
type Parts = {
  readonly gangs: Pick<KindSettings, "gang" | "apacheGang">;
  readonly evictingIn: (mode: Exclude<GangEviction, "none">) => NonNullable<QueueOptions["evicting"]>;
};

/** Returns the settings of all kinds with the parts that these settings need. */
export const kindSettings = (settings: DeploymentKinds, parts: Partial<Parts>): KindSettings => {
  const { timing = usualTiming, options = defaultOptions, queues = {} } = settings;
  const gangs = plans(settings) ? parts.gangs : {};
  const mode = eviction(settings);
  const evicting = mode === undefined ? undefined : parts.evictingIn?.(mode);
  return {
    ...{ apiServer: inCluster, settledMs: settledMs(timing), prompt: promptness(timing), options },
    queues: { ...queues, ...(evicting === undefined ? {} : { evicting }) },
    ...gangs,
  };
};

/** Loads the parts that these settings need. */
export const loadParts = async (settings: DeploymentKinds): Promise<Partial<Parts>> => ({
  ...(plans(settings) ? { gangs: (await import("./gangs.ts")).gangs } : {}),
  ...(eviction(settings) !== undefined
    ? { evictingIn: (await import("../../volcano/gang/eviction/round.ts")).evictingIn }
    : {}),
});
