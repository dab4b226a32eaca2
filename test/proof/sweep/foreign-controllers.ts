/** The search of functions for other controllers: a forwarder every 30 s, resyncs, and each step by their record. */
import { kubernetesCheckpoints } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import type { HttpRequest, Transport } from "../../../shared/core/http.ts";
import type { Stored } from "../../../shared/core/object.ts";
import {
  type FunctionStandby,
  openSighter,
  openStandby,
  sightingKey,
  sightOnce,
} from "../../../shared/deployments/common/standby.ts";
import { type SweepParts, sweepOnce } from "../../../shared/deployments/resync/function.ts";
import type { Report } from "../../../shared/engine/ports.ts";
import { timing } from "../../../shared/engine/settings.ts";
import { openWriters, type Writers } from "../../../shared/forward/controller-detection.ts";
import { openCursors } from "../../../shared/forward/cursors.ts";
import type { ExecutionState } from "./execution-state.ts";
import { sweptOf } from "./kinds.ts";

const record = "cursor.controllers";

/** True for a write of sightings of other controllers: looks make it, not the kinds that run. */
export const isSighting = ({ path, body }: Pick<HttpRequest, "path" | "body">): boolean =>
  path.endsWith(`/checkpoints/${record}`) || (body?.includes(`"name":"${record}"`) ?? false);

/** The ports of an invocation: a transport that a fault may strike. */
type Hands = { readonly transport: Transport; readonly report: Report };

const partsOf = (execution: ExecutionState, { transport, report }: Hands) => {
  const { clusterUid, scenario } = execution.fixture;
  const { group } = sweptOf(scenario);
  const opened = { timeoutMs: timing.requestTimeoutMs, now: () => execution.now() };
  const cluster = openCluster(transport, opened);
  const cursors = openCursors({ checkpoints: kubernetesCheckpoints(transport, opened), clusterUid, report });
  const sighter = openSighter({
    ...{ cluster, transport, cursors, report, selector: undefined, namespaces: [] },
    ...{ key: sightingKey(execution.cluster, []), groups: [group] },
  });
  return {
    cluster,
    cursors,
    sighter,
    groups: [group],
    operators: execution.operators.filter((one) => one.resource.group === group),
  };
};

/** The standing in a function's fresh environment: only the shared record is known. */
export const standingOf = (execution: ExecutionState, hands: Hands, looks: boolean): FunctionStandby => {
  const { cluster, sighter, operators } = partsOf(execution, hands);
  const leases = ["spark-operator-lock", "spark-operator-controller-lock"];
  return openStandby({ cluster, leases, operators, sighter, looks, report: hands.report, now: () => execution.now() });
};

/** One look of a forwarder: at the writers that its watches showed, and at workloads. */
export const forwarderLooks = async (execution: ExecutionState, hands: Hands, writers: Writers): Promise<void> => {
  const { cluster, sighter, groups } = partsOf(execution, hands);
  await sightOnce({ cluster, groups, report: hands.report, sightings: sighter.sightings, writers });
};

/** A resync that leaves out the kinds of another controller. */
export const resyncBeside = async (
  execution: ExecutionState,
  hands: Hands,
  scope: SweepParts["scope"],
): Promise<number> => {
  const { cursors } = partsOf(execution, hands);
  const parts = { scope, cursors, report: hands.report, standby: standingOf(execution, hands, true) };
  return (await sweepOnce(parts, String(execution.now()), () => false)).sent;
};

/** The writers that the watches of a starting forwarder show. */
export const writersIn = (execution: ExecutionState): Writers => {
  const writers = openWriters();
  const { table } = sweptOf(execution.fixture.scenario);
  for (const object of execution.fixture.simulator.store.list(table)) writers.see(object as unknown as Stored);
  return writers;
};
