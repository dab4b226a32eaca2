/**
 * The parts of a function that sends keys and takes no steps: its connection and scope, its kinds, the records with the
 * cursors of its last run, the queue to send to, and the record of other controllers. Forward and resync are profiles of it.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { openLines } from "../../adapters/telemetry/tracing.ts";
import type { Watcher } from "../../core/operator.ts";
import { openCursors } from "../../forward/cursors.ts";
import { runs } from "../../registry/names.ts";
import { watchers } from "../../registry/watchers.ts";
import { lookoutOf } from "../settings/conversions.ts";
import type { Settings } from "../settings/read.ts";
import { openAccess } from "./cluster-access.ts";
import { openNamespaceScope } from "./namespaces.ts";
import { openSender } from "./queues.ts";
import { openRecords } from "./records.ts";
import { sightingOver } from "./standby.ts";
import { readClusterUid } from "./step-dependencies.ts";

type Profile = {
  /** Names the function in its requests. */
  readonly userAgent: string;
  /** Absent: the registered kinds that the settings choose. */
  readonly kinds?: readonly Watcher[] | undefined;
};

/** Opens the parts. Only the cluster's identity costs a request: cursors of another cluster are not valid here. */
export const openKeySource = async (settings: Settings<"forward"> | Settings<"resync">, profile: Profile) => {
  const { cluster: alias, home, selector } = settings;
  const transport = openAccess(settings.clusterRecord, profile);
  const telemetry = openLines(settings);
  const { report } = telemetry;
  const cluster = openCluster(transport);
  const records = openRecords(settings.checkpoints, { transport, cluster: alias, home });
  const cursors = openCursors({ checkpoints: records.checkpoints, clusterUid: await readClusterUid(cluster), report });
  const namespaceScope = openNamespaceScope({ ...settings, transport, report, now: Date.now });
  const { watched: namespaces, within } = namespaceScope;
  const operators = profile.kinds ?? watchers.filter(runs(settings.families));
  const lookout = lookoutOf(settings);
  return {
    ...{
      telemetry,
      report,
      cluster,
      records,
      cursors,
      namespaceScope,
      lookout,
      sender: openSender(settings, telemetry),
    },
    scope: { cluster: alias, selector, namespaces, within, transport, operators },
    sighting: sightingOver({ alias, namespaces, operators, cluster, cursors, lookout, report }),
  };
};
