/** All sinks behind one door: what a listener is called says how it is reached. */
import { listenerForms, operatorsListener, type Sink } from "../../core/sink.ts";

export type Sinks = { readonly https: Sink; readonly sqs: Sink; readonly events: Sink };

/** The listener's name without its scheme, where that is not part of it. */
export const sqsScheme = "sqs:";

/** `operators`: what the operator's own listener is called. */
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
