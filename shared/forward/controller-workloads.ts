/**
 * Finds the workloads that run another controller, and with its leases all signs of it. Loaded with the first look for
 * them: a step of a function reads leases alone, and the record of others' looks.
 */
import type { Resource } from "../core/object.ts";
import type { Cluster } from "../engine/ports.ts";
import { accountText } from "../kube/accounts.ts";
import {
  outlineOfDeployment,
  outlineOfPod,
  runningSigns,
  type Workload,
  workloadsOf,
} from "../kube/controller-workloads.ts";
import { namespaces as namespaceResource, pods } from "../kube/resources.ts";
import type { Upstream } from "../kube/upstream-controllers.ts";
import { type ControllerSigns, findLeaders, type Lookout, lookAt } from "./controller-detection.ts";
import { accountsWith } from "./controller-rights.ts";

const deployments: Resource = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };

export type FoundWorkers = ControllerSigns & {
  /** Namespaces whose leases count beside those of the settings: an account with the right runs the controller there. */
  readonly places: readonly string[];
  /** One line per workload that looks like the controller and counts for nothing. */
  readonly ignored: readonly string[];
  /** The API server's clock, epoch ms. */
  readonly date: number;
};

/** Returns those of the workloads that count, by their namespace or by the rights of their account. */
const countedOf = async (
  cluster: Cluster,
  { right }: Upstream,
  workloads: readonly Workload[],
  namespaces: readonly string[],
): Promise<{ readonly counted: readonly Workload[]; readonly blind: readonly string[] }> => {
  const elsewhere = workloads.filter(({ namespace }) => !namespaces.includes(namespace));
  const accounts = [...new Map(elsewhere.map(({ account }) => [accountText(account), account])).values()];
  const { able, blind } = await accountsWith(cluster, accounts, right);
  const names = new Set(able.map(accountText));
  const counts = (one: Workload): boolean => namespaces.includes(one.namespace) || names.has(accountText(one.account));
  return { counted: workloads.filter(counts), blind };
};

const ignoredText = ({ name: upstream, right }: Upstream, { kind, namespace, name, account }: Workload): string =>
  `${kind} ${namespace}/${name} looks like ${upstream} and counts for nothing, because its account ${accountText(account)} may not write ${right.resources[0]} in all namespaces: if an administrator has installed it, add ${namespace} to the setting controllerNamespaces`;

/** Finds the workloads that run the controller of an upstream: its Deployments, and pods of its labels. */
export const findWorkers = async (
  cluster: Cluster,
  upstream: Upstream,
  { namespaces }: Pick<Lookout, "namespaces">,
): Promise<FoundWorkers> => {
  const { date } = await cluster.get({ resource: namespaceResource, name: "kube-system" });
  const [made, running] = await Promise.all([
    lookAt(cluster, deployments, { projecting: () => outlineOfDeployment(upstream) }),
    lookAt(cluster, pods, { labels: upstream.labels, projecting: () => outlineOfPod(upstream) }),
  ]);
  const workloads = workloadsOf(upstream, { deployments: made.items, pods: running.items });
  const { counted, blind } = await countedOf(cluster, upstream, workloads, namespaces);
  const places = counted.map(({ namespace }) => namespace).filter((one) => !namespaces.includes(one));
  return {
    signs: runningSigns(upstream, counted),
    places: [...new Set(places)].sort(),
    ignored: workloads.filter((one) => !counted.includes(one)).map((one) => ignoredText(upstream, one)),
    blind: [...made.blind, ...running.blind, ...blind],
    date,
  };
};

/** Finds all signs of an upstream: its leases, also where one of its workloads counts, and its workloads. */
export const findController = async (cluster: Cluster, upstream: Upstream, lookout: Lookout): Promise<FoundWorkers> => {
  const working = await findWorkers(cluster, upstream, lookout);
  const namespaces = [...lookout.namespaces, ...working.places];
  const led = await findLeaders(cluster, upstream, { ...lookout, namespaces });
  return { ...working, signs: [...led.signs, ...working.signs], blind: [...led.blind, ...working.blind] };
};
