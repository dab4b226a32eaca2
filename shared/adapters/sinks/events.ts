/** Sends updates as Kubernetes Events on the object; an Event that exists already was sent before. */
import { ApiError } from "../../core/errors.ts";
import { eventOf, events } from "../../core/event.ts";
import type { Resource } from "../../core/object.ts";
import type { Sink } from "../../core/sink.ts";
import type { Cluster } from "../../engine/ports.ts";

type Parts = {
  readonly cluster: Pick<Cluster, "create">;
  readonly resourceOf: (kind: string) => Resource | undefined;
};

export const eventSink =
  ({ cluster, resourceOf }: Parts): Sink =>
  async (_, { key, update, uid, id }, now) => {
    const subject = resourceOf(key.kind);
    if (subject === undefined) return { did: "refused", error: `${key.kind} is not a kind that Rekindle runs` };
    const { state, attempt, message } = update;
    const telling = {
      about: { name: key.name, uid, ...(key.namespace === "" ? {} : { namespace: key.namespace }) },
      subject,
      occasion: id,
      type: "Normal",
      reason: "StatusUpdate",
      message: `${state}, attempt ${attempt}${message === undefined ? "" : `: ${message}`}`,
    } as const;
    const event = eventOf(telling, now);
    const { name, namespace = key.namespace } = event.metadata;
    try {
      await cluster.create({ resource: events, namespace, name }, event);
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      if (cause.status !== 409) return { did: "failed", error: `the event was not taken (${cause.reason})` };
    }
    return { did: "acknowledged" };
  };
