/** Reads outside of a step which accounts have a right in all namespaces: see `shared/kube/cluster-rights.ts`. */
import type { Answer } from "../core/decision.ts";
import { isRefusal } from "../core/http.ts";
import type { Query } from "../core/plan.ts";
import type { Cluster } from "../engine/ports.ts";
import type { Account, ClusterRight } from "../kube/accounts.ts";
import { withRight } from "../kube/cluster-rights.ts";

const answerTo = async (cluster: Pick<Cluster, "get" | "list">, query: Query, blind: string[]): Promise<Answer> => {
  try {
    if (query.do === "list") return { objects: (await cluster.list(query)).value };
    if (query.do === "proxyGet") throw new Error("rights are not read from pods");
    return { probe: { heard: true, value: (await cluster.get(query.ref)).value } };
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    blind.push(cause.message);
    if (query.do === "list") return { objects: [] };
    return { probe: { heard: false, why: "forbidden", message: cause.message } };
  }
};

/** Returns those of the accounts that have the right. `blind`: what could not be read, and why. */
export const accountsWith = async (
  cluster: Pick<Cluster, "get" | "list">,
  accounts: readonly Account[],
  right: ClusterRight,
): Promise<{ readonly able: readonly Account[]; readonly blind: readonly string[] }> => {
  const blind: string[] = [];
  const reads = withRight(accounts, right);
  let step = reads.next();
  while (step.done !== true)
    step = reads.next(await Promise.all(step.value.map((query) => answerTo(cluster, query, blind))));
  return { able: step.value, blind };
};
