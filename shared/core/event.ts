/**
 * A core/v1 Event whose name is derived from the object's UID, the occasion and the reason: a repeated creation answers
 * AlreadyExists.
 */
import { digest } from "./key.ts";
import { apiVersionOf, type Metadata, type Obj, type Resource } from "./object.ts";
import { timeText } from "./time.ts";

export const events: Resource = { group: "", version: "v1", plural: "events", kind: "Event" };

/** The source component of Events, unless a kind sets its own. */
const ownComponent = "rekindle";

/** The content of an Event, and the object that it is about, which may be gone. */
export type EventInput = {
  readonly about: Pick<Metadata, "name" | "namespace" | "resourceVersion"> & { readonly uid: string };
  readonly subject: Resource;
  readonly occasion: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The source component; absent: Rekindle's own. */
  readonly component?: string | undefined;
  /** Id of the trace that the Event belongs to. */
  readonly trace?: string | undefined;
};

/** Builds the Event. `now` in epoch ms. */
export const eventOf = (input: EventInput, now: number): Obj => {
  const { about, subject, occasion, type, reason, message, component = ownComponent, trace } = input;
  const { name, namespace, uid, resourceVersion } = about;
  const time = timeText(now);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: {
      name: `${name.slice(0, 200)}.${digest(uid, occasion, reason).slice(0, 16)}`,
      namespace: namespace ?? "default",
      ...(trace === undefined ? {} : { annotations: { "rekindle.dev/trace": trace } }),
    },
    involvedObject: { apiVersion: apiVersionOf(subject), kind: subject.kind, name, namespace, uid, resourceVersion },
    type,
    reason,
    message: message.slice(0, 1024),
    source: { component },
    reportingComponent: component,
    reportingInstance: "",
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
};
