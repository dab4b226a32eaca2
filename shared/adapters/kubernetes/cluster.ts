/**
 * The engine's cluster port over any transport: quorum reads, fenced writes, parsed answers; and probes of pods
 * through the API server's pod proxy, limited in time, in bytes and per namespace, and always answered.
 */

import { getHeapStatistics } from "node:v8";
import { forgetOldest } from "../../core/cache.ts";
import { ApiError, type HttpRequest, type HttpResponse, type Transport } from "../../core/http.ts";
import { fieldsOf, opensMoreThan } from "../../core/json.ts";
import { apiVersionOf, type Ref, type Stored } from "../../core/object.ts";
import type { ProbeFailure, ProbeResult, Projection, Query } from "../../core/plan.ts";
import { openShare, type Share } from "../../core/share.ts";
import { backoffOf } from "../../core/time.ts";
import type { Answer, Cluster } from "../../engine/ports.ts";
import { collectionPath, objectPath, openPaging, proxyPath, selectorOf, withQuery } from "../../kube/paths.ts";
import { withFeature } from "../../kube/resources.ts";
import { dateOf, errorOf, pageOf, saysGone, storedOf } from "../../kube/responses.ts";
import { json, mergePatchJson, metadataOfOne } from "./requests.ts";

/** Time limit of a probe, ms. */
const timeoutMs = 2_000;
/** Longest answer, bytes: the default, and the limit for any probe. */
const usualBytes = 1_024 * 1_024;
const mostBytes = 16 * usualBytes;
/** Fewest bytes for each array and object of an answer; Spark's list of executors has more than 150. */
const bytesPerPart = 64;

const silent = (why: ProbeFailure, message: string): ProbeResult => ({
  heard: false,
  why,
  message: message.slice(0, 300),
});

const whyOf: Readonly<Record<number, ProbeFailure>> = { 401: "forbidden", 403: "forbidden", 404: "notFound" };

const parsed = (body: string, limitBytes: number): ProbeResult => {
  const mostParts = limitBytes / bytesPerPart;
  if (opensMoreThan(body, mostParts)) return silent("tooLong", `more than ${mostParts} arrays and objects`);
  try {
    return { heard: true, value: JSON.parse(body) };
  } catch {
    return silent("notJson", body.trimStart().slice(0, 80));
  }
};

const meaningOf = ({ status, body }: HttpResponse, limitBytes: number): ProbeResult => {
  if (body.length > limitBytes) return silent("tooLong", `longer than ${limitBytes} bytes`);
  if (status >= 200 && status < 300) return parsed(body, limitBytes);
  return silent(
    status < 400 ? "notJson" : (whyOf[status] ?? "unreachable"),
    `HTTP ${status}: ${status === 403 ? withFeature(body.trim()) : body.trim()}`,
  );
};

const reasons: Readonly<Record<string, ProbeFailure>> = { Timeout: "timeout", TooLong: "tooLong" };

type Asking = Extract<Query, { do: "proxyGet" }>;

/** Headers that only the pod interprets: others could change the identity that the API server sees. */
const harmless = /^(accept(-language)?|user-agent|x-(?!remote|forwarded)[a-z0-9-]+)$/i;

const headersOf = ({ header }: Asking): Readonly<Record<string, string>> =>
  header === undefined || !harmless.test(header.name) || /[^\t\x20-\x7e]/.test(header.value)
    ? {}
    : { [header.name.toLowerCase()]: header.value };

const pathOf = ({ pod, port, path, query }: Asking): string =>
  `${proxyPath(pod, port, path)}${query === undefined ? "" : `?${new URLSearchParams(query)}`}`;

/** Returns the pod's answer, or why there is none. */
export const ask = async (transport: Transport, asking: Asking): Promise<ProbeResult> => {
  const limitBytes = Math.min(mostBytes, asking.mostBytes ?? usualBytes);
  try {
    const request = { method: "GET", path: pathOf(asking), headers: headersOf(asking), timeoutMs, limitBytes } as const;
    return meaningOf(await transport.send(request), limitBytes);
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    return silent(reasons[cause.reason] ?? "unreachable", cause.message);
  }
};

/** The number of parallel probes in one namespace; further probes wait in order. */
const atOnce = 4;
/** Wait after an answer that was too long, ms: doubles each time. */
const firstRestMs = 2_000;
const longestRestMs = 60_000;
/** The number of pods whose waits are remembered. */
const mostPods = 1_000;

type Rest = { readonly until: number; readonly times: number };

/** Opens one line per namespace: work waits while `atOnce` parts run in it. */
const openLines = () => {
  const lines = new Map<string, { busy: number; readonly waiting: (() => void)[] }>();
  return async <T>(namespace: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(namespace) ?? { busy: 0, waiting: [] };
    lines.set(namespace, line);
    if (line.busy >= atOnce) await new Promise<void>((resolve) => line.waiting.push(resolve));
    else line.busy += 1;
    try {
      return await work();
    } finally {
      const next = line.waiting.shift();
      if (next !== undefined) next();
      else if (line.busy > 1) line.busy -= 1;
      else lines.delete(namespace);
    }
  };
};

/** Opens the probes of one cluster. `now`: a monotonic time, ms. */
export const openQuestions = (
  transport: Transport,
  now: () => number = () => performance.now(),
): ((asking: Asking) => Promise<ProbeResult>) => {
  const rests = new Map<string, Rest>();
  const inLine = openLines();
  return (asking) => {
    const { namespace = "", name } = asking.pod;
    const pod = `${namespace}/${name}`;
    return inLine(namespace, async () => {
      const rest = rests.get(pod);
      if (rest !== undefined && now() < rest.until)
        return silent("tooLong", "its answers exceed the size limit, so it is queried less often");
      const answer = await ask(transport, asking);
      const isTooLong = !answer.heard && answer.why === "tooLong";
      rests.delete(pod);
      if (isTooLong) {
        const times = (rest?.times ?? 0) + 1;
        rests.set(pod, { until: now() + backoffOf(times - 1, firstRestMs, longestRestMs), times });
        forgetOldest(rests, mostPods);
      }
      return answer;
    });
  };
};

export type ClusterOptions = {
  /** Time limit of one request, ms; the engine's fence relies on it. */
  readonly timeoutMs?: number;
  readonly pageSize?: number;
  /**
   * The most text of all lists that are being read, bytes; the namespaces share it. Absent: a fifth of the heap, because
   * objects take a multiple of their text.
   */
  readonly listBytes?: number;
  /** Epoch ms, used only if an answer has no `Date`. */
  readonly now?: () => number;
};

type Settled = Required<Omit<ClusterOptions, "listBytes">> & {
  readonly transport: Transport;
  /** The text of lists that are being read. */
  readonly share: Share;
  /** By the path of a list: the size of a page that fitted. */
  readonly pageSizes: Map<string, number>;
};
type ListQuery = Parameters<Cluster["list"]>[0];

const where = (
  method: string,
  ref: { readonly resource: Ref["resource"]; namespace?: string; name?: string },
): string =>
  `${method} ${ref.resource.plural} ${[ref.namespace, ref.name].filter((part) => part !== undefined && part !== "").join("/")}`.trimEnd();

const answerDate = (settled: Settled, response: HttpResponse): number => {
  const date = dateOf(response);
  return Number.isNaN(date) ? settled.now() : date;
};

const get = async (settled: Settled, ref: Ref, only?: "metadata"): Promise<Answer<Stored | undefined>> => {
  const { transport, timeoutMs } = settled;
  const headers = only === undefined ? {} : metadataOfOne;
  const response = await transport.send({ method: "GET", path: objectPath(ref), headers, timeoutMs });
  const date = answerDate(settled, response);
  if (saysGone(response, ref.name)) return { value: undefined, date };
  return { value: storedOf(where("get", ref), response), date };
};

/** The number of times that a list is begun: a continue token expires after minutes, and then the list begins again. */
const listBegins = 3;

const tooMuch = (query: ListQuery): ApiError =>
  new ApiError({
    status: 0,
    reason: "TooMuch",
    message: `${where("list", query)}: the objects of this list, with those of others that are being read, exceed the memory for lists; trying again. Delete objects that are not needed, or give the process more memory`,
  });

/** `takes` is called with the bytes of each page that is kept; a projection keeps a bounded part of it. */
const listOnce = async (
  settled: Settled,
  query: ListQuery,
  takes: (bytes: number) => void,
): Promise<Answer<readonly Stored[]>> => {
  const { transport, timeoutMs, pageSize, pageSizes } = settled;
  const path = collectionPath(query.resource, query.namespace);
  const type = { apiVersion: apiVersionOf(query.resource), kind: query.resource.kind };
  const items: Stored[] = [];
  const project: Projection = query.projecting?.() ?? ((object) => object);
  let date = Number.NaN;
  const paging = openPaging(pageSize, path, pageSizes);
  const { mostText = Number.POSITIVE_INFINITY } = query;
  let text = 0;
  let next: string | undefined;
  do {
    const pathOf = (size: number): string =>
      withQuery(path, {
        labelSelector: selectorOf(query.labels),
        fieldSelector: query.field,
        limit: String(size),
        continue: next,
      });
    const response = await paging((size, limitBytes) =>
      transport.send({ method: "GET", path: pathOf(size), headers: {}, timeoutMs, ...(limitBytes && { limitBytes }) }),
    );
    if (Number.isNaN(date)) date = answerDate(settled, response);
    if (query.projecting === undefined) takes(response.body.length);
    const page = pageOf(where("list", query), response, type);
    for (const item of page.items) {
      const kept = project(item);
      if (kept !== undefined) items.push(kept);
    }
    text += response.body.length;
    next = text < mostText ? page.next : undefined;
  } while (next !== undefined);
  return { value: items, date };
};

const list = async (settled: Settled, query: ListQuery): Promise<Answer<readonly Stored[]>> => {
  const { share } = settled;
  for (let begun = 1; ; begun += 1) {
    let taken = 0;
    try {
      return await listOnce(settled, query, (bytes) => {
        if (!share.take(query.namespace, bytes)) throw tooMuch(query);
        taken += bytes;
      });
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status !== 410 || begun === listBegins) throw cause;
    } finally {
      share.give(query.namespace, taken);
    }
  }
};

const create = async ({ transport, timeoutMs }: Settled, ref: Ref, object: unknown): Promise<Stored> => {
  const path = collectionPath(ref.resource, ref.namespace);
  const body = JSON.stringify(object);
  return storedOf(where("create", ref), await transport.send({ method: "POST", path, headers: json, body, timeoutMs }));
};

type Fence = Parameters<Cluster["remove"]>[1];

const removal = (ref: Ref, fence: Fence, timeoutMs: number): HttpRequest => ({
  method: "DELETE",
  path: objectPath(ref),
  headers: json,
  body: JSON.stringify({
    kind: "DeleteOptions",
    apiVersion: "v1",
    preconditions: { uid: fence.uid, resourceVersion: fence.resourceVersion },
    gracePeriodSeconds: fence.graceSeconds,
    propagationPolicy: fence.orphans === true ? "Orphan" : "Background",
  }),
  timeoutMs,
});

const remove = async (settled: Settled, ref: Ref, fence: Fence): Promise<void> => {
  const response = await settled.transport.send(removal(ref, fence, settled.timeoutMs));
  if (response.status < 300 || saysGone(response, ref.name)) return;
  const refusal = errorOf(where("delete", ref), response);
  if (refusal.status !== 409) throw refusal;
  // A precondition failed. The message names it in free text only, so the object is read to find out.
  const { value: existing } = await get(settled, ref);
  if (existing !== undefined && existing.metadata.uid === fence.uid) throw refusal;
};

const evict = async (settled: Settled, ref: Ref, uid: string): Promise<void> => {
  const { transport, timeoutMs } = settled;
  const { name, namespace } = ref;
  const body = JSON.stringify({
    ...{ apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } },
    deleteOptions: { preconditions: { uid } },
  });
  const path = objectPath(ref, "eviction");
  const response = await transport.send({ method: "POST", path, headers: json, body, timeoutMs });
  if (response.status < 300 || saysGone(response, name)) return;
  const refusal = errorOf(where("evict", ref), response);
  if (refusal.status !== 409) throw refusal;
  const { value: existing } = await get(settled, ref);
  if (existing !== undefined && existing.metadata.uid === uid) throw refusal;
};

type Patching = { readonly ref: Ref; readonly subresource?: "status"; readonly body: unknown; readonly what: string };

const patched = async (settled: Settled, { ref, subresource, body, what }: Patching): Promise<Stored> => {
  const response = await settled.transport.send({
    method: "PATCH",
    path: objectPath(ref, subresource),
    headers: mergePatchJson,
    body: JSON.stringify(body),
    timeoutMs: settled.timeoutMs,
  });
  return storedOf(where(what, ref), response);
};

const patch = (
  settled: Settled,
  ref: Ref,
  fence: Parameters<Cluster["patch"]>[1],
  fields: Parameters<Cluster["patch"]>[2],
): Promise<Stored> => {
  const metadata = fieldsOf(fields["metadata"]);
  const { uid, resourceVersion } = fence;
  const body = { ...fields, metadata: { ...metadata, uid, resourceVersion } };
  return patched(settled, { ref, body, what: "patch" });
};

const patchStatus = (settled: Settled, ref: Ref, resourceVersion: string, status: unknown): Promise<Stored> =>
  patched(settled, {
    ref,
    subresource: "status",
    body: { metadata: { resourceVersion }, status },
    what: "patch status of",
  });

/** Opens the cluster port over a transport. */
export const openCluster = (
  transport: Transport,
  { listBytes = getHeapStatistics().heap_size_limit / 5, ...options }: ClusterOptions = {},
): Cluster => {
  const share = openShare(listBytes);
  const own = { transport, share, pageSizes: new Map<string, number>() };
  const settled: Settled = { ...own, timeoutMs: 5_000, pageSize: 500, now: Date.now, ...options };
  return {
    get: (ref, only) => get(settled, ref, only),
    list: (query) => list(settled, query),
    proxyGet: openQuestions(transport),
    logEnd: async (pod, container, most) => (await import("./pod-log.ts")).openLogEnds(transport)(pod, container, most),
    create: (ref, object) => create(settled, ref, object),
    remove: (ref, fence) => remove(settled, ref, fence),
    evict: (ref, uid) => evict(settled, ref, uid),
    patch: (ref, fence, fields) => patch(settled, ref, fence, fields),
    patchStatus: (ref, resourceVersion, status) => patchStatus(settled, ref, resourceVersion, status),
  };
};
