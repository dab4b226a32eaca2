/** Chooses the sink by the form of the listener. */
import { listenerForms, operatorsListener, type Sink } from "../../core/sink.ts";

export type Sinks = { readonly https: Sink; readonly sqs: Sink; readonly events: Sink };

/** Prefix of a listener that is an SQS queue; not part of the queue's URL. */
export const sqsScheme = "sqs:";

/** Returns the sink of all listeners. `operators`: the listener in the operator's configuration. */
export const sinkOf =
  ({ https, sqs, events }: Sinks, operators = "none"): Sink =>
  async (named, parcel, now) => {
    const to = named === operatorsListener ? operators : named;
    if (to === "events") return await events(to, parcel, now);
    if (to.startsWith(sqsScheme)) return await sqs(to.slice(sqsScheme.length), parcel, now);
    if (/^https?:/.test(to)) return await https(to, parcel, now);
    const error = to.startsWith("refused:") ? to.slice("refused:".length).trim() : `write ${listenerForms}`;
    return { did: "refused", error };
  };
