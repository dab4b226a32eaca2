/** The messages of a notice that a node is about to go. */
import { type Message, noticeKey } from "../../core/key.ts";
import { keyKindOf } from "../../core/object.ts";
import { kinds } from "../../registry/kinds.ts";

/**
 * Returns the messages of a notice: one for each kind whose pods can leave the node. `until` in epoch ms; undefined: the
 * node stays.
 */
export const noticesOf = (cluster: string, node: string, until: number | undefined): readonly Message[] => {
  const says = until === undefined ? ({ stays: true } as const) : { until };
  return kinds
    .filter(({ leavesNodes }) => leavesNodes === true)
    .map(({ resource }) => ({ ...noticeKey(cluster, keyKindOf(resource), node), reason: "notice", ...says }));
};
