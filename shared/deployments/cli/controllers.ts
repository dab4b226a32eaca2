/** Signs of other controllers for the command line: found as hosts find them, by the rights of the caller. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { isRefusal, type Transport } from "../../core/http.ts";
import { upstreamsOf } from "../../forward/controller-detection.ts";
import { findController } from "../../forward/controller-workloads.ts";

/**
 * Returns one line per sign of another controller of the kinds in an API group; none where the caller's rights are too
 * few to see any.
 */
export const controllerSigns = async (
  transport: Transport,
  group: string,
  namespaces: readonly string[],
): Promise<readonly string[]> => {
  const [upstream] = upstreamsOf([group]);
  if (upstream === undefined) return [];
  try {
    return (await findController(openCluster(transport), upstream, { leases: [], namespaces })).signs;
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    return [];
  }
};
