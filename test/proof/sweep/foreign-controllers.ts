/** The search of functions for other controllers: a forwarder every 30 s, resyncs, and each step by their record. */
import { kubernetesCheckpoints } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import type { HttpRequest, Transport } from "../../../shared/core/http.ts";
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
import { openCursors } from "../../../shared/forward/cursors.ts";
import { usualNamespaces } from "../../../shared/kube/upstream-controllers.ts";
import type { ExecutionState } from "./execution-state.ts";
import { sweptOf } from "./kinds.ts";

const record = "cursor.controllers";

/** True for a write of sightings of other controllers: looks make it, not the kinds that run. */
export const isSighting = ({ path, body }: Pick<HttpRequest, "path" | "body">): boolean =>
  path.endsWith(`/checkpoints/${record}`) || (body?.includes(`"name":"${record}"`) ?? false);

const lookout = { leases: ["spark-operator-lock", "spark-operator-controller-lock"], namespaces: usualNamespaces };

/** The ports of an invocation: a transport that a fault may strike. */
type Hands = { readonly transport: Transport; readonly report: Report };

const partsOf = (execution: ExecutionState, { transport, report }: Hands) => {
  const { clusterUid, scenario } = execution.fixture;
  const { group } = sweptOf(scenario);
  const opened = { timeoutMs: timing.requestTimeoutMs, now: () => execution.now() };
  const cluster = openCluster(transport, opened);
  const cursors = openCursors({ checkpoints: kubernetesCheckpoints(transport, opened), clusterUid, report });
  const key = sightingKey(execution.cluster, []);
  if (key === undefined) throw new Error("functions of all namespaces have a record of sightings");
  const sighter = openSighter({ cluster, key, cursors, groups: [group], lookout, report });
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
  return openStandby({ cluster, lookout, operators, sighter, looks, report: hands.report, now: () => execution.now() });
};

/** One look of a forwarder. The resync after a standby is left out: keys come again by themselves. */
export const forwarderLooks = async (execution: ExecutionState, hands: Hands): Promise<void> => {
  const { cluster, sighter, groups } = partsOf(execution, hands);
  const { sightings } = sighter;
  await sightOnce({ cluster, groups, lookout, report: hands.report, sightings, freed: () => {} });
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
