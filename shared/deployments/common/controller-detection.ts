/**
 * Detects other controllers of the kinds that this process runs: two controllers of one kind would undo each other's
 * work.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/errors.ts";
import type { Transport } from "../../core/http.ts";
import type { Stored } from "../../core/object.ts";
import { findLeaders, findOtherControllers, findWorkers } from "../../forward/controller-detection.ts";
import type { Lookout } from "../../forward/standby.ts";
import type { Writers } from "../../forward/writers.ts";
import { type Upstream, upstreams } from "../../kube/upstream-controllers.ts";
import type { Configuration } from "../settings/table.ts";
import { resources } from "./kinds.ts";
import { type Chosen, openNamespaceScope } from "./namespaces.ts";

type Scope = Chosen & { readonly selector?: string | undefined };

/**
 * Yields the objects page by page. A kind that the server does not serve (404) yields nothing, so that other kinds are
 * still listed.
 */
const servedPages = async function* (
  transport: Transport,
  paging: Parameters<typeof pages>[1],
): AsyncIterable<readonly Stored[]> {
  try {
    for await (const { items } of pages(transport, paging)) yield items;
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 404) throw cause;
  }
};

/**
 * Returns a listing of the objects of these upstreams' kinds within the deployment's scope, page by page, without spec
 * and status.
 */
export const oursOf = (transport: Transport, { selector, ...scope }: Scope, known: readonly Upstream[]) => {
  const groups = known.flatMap((upstream) => upstream.groups);
  const theirs = resources.filter(({ group }) => groups.includes(group));
  const territory = openNamespaceScope({ ...scope, transport, report: () => {}, now: Date.now });
  const places = territory.watched.length === 0 ? [""] : territory.watched;
  return async function* (): AsyncIterable<readonly Stored[]> {
    const within = await territory.within();
    for (const resource of theirs) {
      for (const namespace of places) {
        const paging = { transport, resource, namespace, selector: selector || undefined, metadataOnly: true };
        for await (const page of servedPages(transport, paging))
          yield page.filter((item) => within(item.metadata.namespace ?? ""));
      }
    }
  };
};

/** Opens the detection; undefined where the settings turn it off. Each failed look is logged once. */
export const lookoutFor = (
  transport: Transport,
  configuration: Scope & Pick<Configuration, "leases" | "takeOver" | "coexist" | "dryRun">,
  warn: (line: string) => void,
  writers?: Pick<Writers, "signs">,
): Lookout | undefined => {
  const { takeOver, coexist, dryRun, leases } = configuration;
  if (takeOver || coexist || dryRun) return undefined;
  const cluster = openCluster(transport);
  const reported = new Set<string>();
  const tell = (blind: readonly string[]): void => {
    for (const line of blind.filter((one) => !reported.has(one))) {
      reported.add(line);
      warn(`cannot see whether another controller is alive: ${line}`);
    }
  };
  return async (upstream, how) => {
    const known = upstreams.filter(({ name }) => name === upstream);
    if (how === "thorough") {
      const { signs, blind } = await findOtherControllers(
        cluster,
        leases,
        oursOf(transport, configuration, known),
        known,
      );
      tell(blind);
      return signs;
    }
    const led = await findLeaders(cluster, leases, known);
    const working = how === "workloads" ? await findWorkers(cluster, known) : { signs: [], blind: [] };
    tell([...led.blind, ...working.blind]);
    const groups = known.flatMap((one) => one.groups);
    return [...led.signs, ...working.signs, ...(writers?.signs(groups, led.date) ?? [])];
  };
};
