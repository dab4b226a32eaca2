/**
 * The events of an application and its pods, oldest first, and the log of a pod: its path at the API server, and the
 * end of it. `rekindle event`, `rekindle log` and the page read them.
 */
import * as z from "zod";
import { openCluster } from "../adapters/kubernetes/cluster.ts";
import { lastLines } from "../adapters/kubernetes/pod-log.ts";
import type { ApiError } from "../core/http.ts";
import type { Resource, Stored } from "../core/object.ts";
import { oneLine } from "../core/text.ts";
import { instantOf, timeText } from "../core/time.ts";
import { objectPath, withQuery } from "../kube/paths.ts";
import { podStatus, waitingReason } from "../kube/pods.ts";
import { pods as podResource } from "../kube/resources.ts";
import { errorOf } from "../kube/responses.ts";
import { asJson, asYaml } from "./io/documents.ts";
import { Refused } from "./io/refusal.ts";
import type { Session, Source } from "./io/session.ts";
import { columns, spanText } from "./io/text.ts";
import { lifeOf, type Target } from "./target.ts";

const events: Resource = { group: "", version: "v1", plural: "events", kind: "Event" };

const shape = z.object({
  type: z.string().nullish(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  count: z.number().nullish(),
  firstTimestamp: z.string().nullish(),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
  series: z.object({ count: z.number(), lastObservedTime: z.string().nullish() }).nullish(),
  involvedObject: z.object({ kind: z.string().optional(), name: z.string().optional(), uid: z.string().optional() }),
});

export type EventEntry = {
  /** Epoch ms of the last time. */
  readonly at: number;
  readonly count: number;
  readonly type: string;
  readonly reason: string;
  readonly about: string;
  readonly message: string;
  /** UID of the object; undefined where the event names none. */
  readonly aboutUid: string | undefined;
  /** Identity of one occurrence: a repeated event has another. */
  readonly id: string;
};

const entryOf = (object: Stored): EventEntry | undefined => {
  const parsed = shape.safeParse(object);
  if (!parsed.success) return undefined;
  const { series, involvedObject, ...event } = parsed.data;
  const times = [series?.lastObservedTime, event.lastTimestamp, event.eventTime, event.firstTimestamp];
  const { uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    at: [...times, creationTimestamp].map(instantOf).find((time) => time !== undefined) ?? 0,
    count: series?.count ?? event.count ?? 1,
    type: event.type ?? "",
    reason: event.reason ?? "",
    about: `${(involvedObject.kind ?? "").toLowerCase()}/${involvedObject.name ?? ""}`,
    message: (event.message ?? "").trim(),
    aboutUid: involvedObject.uid === "" ? undefined : involvedObject.uid,
    id: `${uid}/${resourceVersion}`,
  };
};

/** With a UID: that object alone, and no earlier one of the same name. */
type About = { readonly kind: string; readonly name: string; readonly uid?: string | undefined };

const isAbout = (uid: string | undefined, { aboutUid }: EventEntry): boolean =>
  uid === undefined || aboutUid === undefined || aboutUid === uid;

/** Lists the events about one object, in no order. */
export const eventsAbout = async (
  { transport }: Pick<Session, "transport">,
  namespace: string,
  { kind, name, uid }: About,
): Promise<readonly EventEntry[]> => {
  const field = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const query = { do: "list", resource: events, namespace, labels: {}, field } as const;
  const { value } = await openCluster(transport).list(query);
  return value.flatMap((object) => entryOf(object) ?? []).filter((event) => isAbout(uid, event));
};

export type EventList = { readonly events: readonly EventEntry[]; readonly isOver: boolean };

/** The choice of events; those of earlier objects of the same name only with `all`. */
export type EventChoice = { readonly pods?: true; readonly all?: true };

/**
 * Lists the events about an application, and with `pods` about its pods: of the object that is there. A deleted object
 * still has its events, which are found by its name.
 */
export const heardOf = async (session: Session, target: Target, { pods, all }: EventChoice): Promise<EventList> => {
  const { kind, key } = target;
  const life = await lifeOf(session, target);
  const ownPods = pods === true ? (life?.pods ?? []) : [];
  const subjects = [
    { kind: kind.resource.kind, name: key.name, uid: life?.object.metadata.uid },
    ...ownPods.map(({ metadata: { name, uid } }) => ({ kind: "Pod", name, uid })),
  ];
  const found = await Promise.all(
    subjects.map(({ uid, ...about }) => eventsAbout(session, key.namespace, all === true ? about : { ...about, uid })),
  );
  return {
    events: found.flat().toSorted((a, b) => a.at - b.at),
    isOver: life === undefined || life.state.ended !== undefined,
  };
};

const row = ({ at, count, type, reason, about: subject, message }: EventEntry, now: number): readonly string[] => [
  `${spanText(now - at)}${count > 1 ? ` (x${count})` : ""}`,
  type,
  reason,
  subject,
  oneLine(message),
];

/** As data: instants as the API writes them. */
const dataOf = ({ at, aboutUid: _, ...event }: EventEntry) => ({ at: timeText(at), ...event });

/** Events in one of the output forms; without `heads` the table has no heads. */
export const eventText = (events: readonly EventEntry[], now: number, form: string, heads = true): string => {
  if (form === "json") return asJson(events.map(dataOf));
  if (form === "yaml") return asYaml(events.map(dataOf));
  const head = heads ? [["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]] : [];
  return columns([...head, ...events.map((event) => row(event, now))]);
};

/** The name of Spark's container, where the pod has it: sidecars have logs, too. */
export const mainContainer = (pod: Stored): string | undefined =>
  podStatus(pod)
    .containerStatuses?.map(({ name }) => name)
    .find((name) => name.startsWith("spark-kubernetes-"));

/** The path of a pod's log. */
export const logPath = (
  namespace: string,
  { metadata: { name } }: Stored,
  query: Readonly<Record<string, string | undefined>>,
): string => withQuery(objectPath({ resource: podResource, namespace, name }, "log"), query);

/** A log is read in so many of its last lines, fewer while these are too long. */
const tails = [400, 40, 4, 1] as const;

/** The last `most` characters of a text, from the beginning of a line where one begins there. */
const lastOf = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const end = text.slice(-most);
  const line = end.indexOf("\n");
  return line < 0 || line === end.length - 1 ? end : end.slice(line + 1);
};

/** Throws `Refused` with the reason where the container has not started. */
const refusalOf = (cause: ApiError, pod: Stored): Error => {
  const why = waitingReason(podStatus(pod));
  const { name } = pod.metadata;
  return cause.status === 400 && why !== undefined ? new Refused(`${name} has not started: ${why}`, { cause }) : cause;
};

/** Returns why this process may not read logs of pods; undefined where it may, also of a pod that is gone. */
export const logRefusal = async (
  { transport }: Pick<Source, "transport">,
  namespace: string,
  name: string,
): Promise<string | undefined> => {
  const path = withQuery(objectPath({ resource: podResource, namespace, name }, "log"), {
    tailLines: "1",
    limitBytes: "1",
  });
  const answer = await transport.send({ method: "GET", path, headers: { accept: "*/*" }, timeoutMs: 10_000 });
  return answer.status === 401 || answer.status === 403 ? errorOf(`log of ${name}`, answer).message : undefined;
};

/** Reads the end of a pod's log, at most `most` characters: of a line that is longer than an answer its beginning. */
export const logEnd = async (
  { transport }: Pick<Source, "transport">,
  namespace: string,
  pod: Stored,
  most: number,
): Promise<string> => {
  const answer = await lastLines((query) => {
    const path = logPath(namespace, pod, { container: mainContainer(pod), ...query });
    return transport.send({ method: "GET", path, headers: { accept: "*/*" }, timeoutMs: 10_000 });
  }, tails);
  if (answer.status !== 200) throw refusalOf(errorOf(`log of ${pod.metadata.name}`, answer), pod);
  return lastOf(answer.body, most);
};
