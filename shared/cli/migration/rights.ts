/** The accounts that may write a kind in all namespaces, as the user who migrates may read them. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { isRefusal } from "../../core/http.ts";
import type { Query } from "../../core/plan.ts";
import type { Session } from "../../inspection/io/session.ts";
import type { Account, ClusterRight } from "../../kube/accounts.ts";
import { withRight } from "../../kube/cluster-rights.ts";

/** Returns those of the accounts that have the right; none where the user may not read bindings and roles. */
export const ableAccounts = async (
  { transport }: Session,
  accounts: readonly Account[],
  right: ClusterRight,
): Promise<readonly Account[]> => {
  const cluster = openCluster(transport);
  const objectsOf = async (query: Query) => {
    if (query.do === "list") return (await cluster.list(query)).value;
    if (query.do === "proxyGet") throw new Error("rights are not read from pods");
    const { value } = await cluster.get(query.ref);
    return value === undefined ? [] : [value];
  };
  const answerTo = async (query: Query) => {
    const objects = await objectsOf(query).catch((cause: unknown) => {
      if (!isRefusal(cause)) throw cause;
      return [];
    });
    return query.do === "list" ? { objects } : { probe: { heard: true as const, value: objects[0] } };
  };
  const reads = withRight(accounts, right);
  let step = reads.next();
  while (step.done !== true) step = reads.next(await Promise.all(step.value.map(answerTo)));
  return step.value;
};
