/** One resync: pages the metadata of objects and checkpoints, and sends what deserves a step. */
import { checkpointResource, hintOf } from "../adapters/checkpoints/object.ts";
import { pages } from "../adapters/kubernetes/requests.ts";
import type { Transport } from "../core/http.ts";
import type { Metadata, Resource } from "../core/object.ts";
import type { Operator } from "../core/operator.ts";
import type { Queue } from "../engine/ports.ts";
import { dueOf } from "../forward/resync.ts";

export type ResyncScope = {
  readonly transport: Transport;
  readonly queue: Queue;
  readonly cluster: string;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Label selector of the applications; checkpoints of others are left alone. */
  readonly selector: string | undefined;
  readonly operators: readonly Operator<unknown>[];
};

const metadataOf = async (
  { transport, namespaces }: ResyncScope,
  resource: Resource,
  selector: string | undefined,
): Promise<readonly Metadata[]> => {
  const found: Metadata[] = [];
  for (const namespace of namespaces.length === 0 ? [""] : namespaces) {
    const paging = { transport, resource, namespace, selector, metadataOnly: true };
    for await (const page of pages(transport, paging)) found.push(...page.items.map((item) => item.metadata));
  }
  return found;
};

/** Gives how many keys were sent. `sweep` names this run. */
export const resync = async (scope: ResyncScope, sweep: string): Promise<number> => {
  const checkpoints = await metadataOf(scope, checkpointResource, undefined);
  const hints = checkpoints.map(hintOf).filter((hint) => hint !== undefined);
  let sent = 0;
  for (const { kind, resource } of scope.operators) {
    const objects = await metadataOf(scope, resource, scope.selector);
    const mine = hints.filter((hint) => hint.kind === kind);
    for (const due of dueOf({ cluster: scope.cluster, kind, objects, hints: mine }, sweep)) {
      await scope.queue.send(due.message, due.dedupeId);
      sent += 1;
    }
  }
  return sent;
};
