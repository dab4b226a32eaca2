/**
 * The runtime of every process that takes steps: one way from a transport and a queue to the world of its steps. A host,
 * the functions, the demo and `rekindle recover` are profiles of it: each names its ports, its scope, and the parts that only it has.
 */
import type { Telemetry } from "../../adapters/telemetry/tracing.ts";
import type { World } from "../../engine/context/world.ts";
import { openServerTime, type ServerTime } from "../../engine/server-time.ts";
import { scopeCheckOf } from "./namespaces.ts";
import { openWorld, type Parts } from "./step-dependencies.ts";

/** The world with its ports and its scope. */
export type OpenedWorld = World & { readonly serverTime: ServerTime["latest"] };

export type Profile<Own, More> = Parts & {
  readonly telemetry: Pick<Telemetry, "ports" | "within">;
  /** The objects that the process is in charge of; absent: all. */
  readonly scope?: Parameters<typeof scopeCheckOf>[0];
  /** From when a reading of the API server's clock counts: see `openServerTime`. */
  readonly clockFrom: "sent" | "answered";
  /** Returns the parts that need the ports alone: limits, figures, cache, standby. */
  readonly own: (opened: OpenedWorld) => Own;
  /** Returns the parts that take messages or send by themselves, and need all others: notices, updates. */
  readonly more: (world: OpenedWorld & Own) => More | Promise<More>;
};

/** Opens the world. Only the cluster's identity costs a request. */
export const openRuntime = async <Own extends Partial<World>, More extends Partial<World>>(
  profile: Profile<Own, More>,
): Promise<OpenedWorld & Own & More> => {
  const { telemetry, scope, clockFrom, own, more } = profile;
  const ports = telemetry.ports(await openWorld(profile));
  const { cluster, latest: serverTime } = openServerTime(ports.cluster, ports.clock, clockFrom);
  const inCharge = scope === undefined ? {} : { inCharge: scopeCheckOf(scope) };
  const opened = { ...ports, cluster, serverTime, within: telemetry.within, ...inCharge };
  const world = { ...opened, ...own(opened) };
  return { ...world, ...(await more(world)) };
};
