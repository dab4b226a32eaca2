/** A core/v1 Event under a name made of the object's UID, the occasion and the reason: a repeat is AlreadyExists. */
import { digest } from "./key.ts";
import { apiVersionOf, type Metadata, type Obj, type Resource } from "./object.ts";
import { timeText } from "./time.ts";

export const events: Resource = { group: "", version: "v1", plural: "events", kind: "Event" };

/** Who tells, where a kind does not say otherwise. */
const ownComponent = "rekindle";

/** What is told, and of whom: an object that is gone may still be told of. */
export type Telling = {
  readonly about: Pick<Metadata, "name" | "namespace" | "resourceVersion"> & { readonly uid: string };
  readonly subject: Resource;
  readonly occasion: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** In whose name; absent: in our own. */
  readonly component?: string | undefined;
  /** Id of the trace that it belongs to. */
  readonly trace?: string | undefined;
};

/** `now` in epoch ms. */
export const eventOf = (telling: Telling, now: number): Obj => {
  const { about, subject, occasion, type, reason, message, component = ownComponent, trace } = telling;
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
