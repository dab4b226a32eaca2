/** The alias by which hosts name a cluster in their keys, where a command must find records under it. */
import { checkpointRef, clusterLabel } from "../../adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Key } from "../../core/key.ts";
import type { Session } from "../../inspection/io/session.ts";

/** Returns the host's alias of the cluster: the table's, or the label of the `Checkpoint` object; else the key's own. */
export const aliasOf = async (
  { transport, table }: Pick<Session, "transport" | "table">,
  key: Key,
): Promise<string> => {
  if (table !== undefined) return table.cluster;
  const { value } = await openCluster(transport).get(checkpointRef(key, "rekindle"));
  return value?.metadata.labels?.[clusterLabel] ?? key.cluster;
};
