/**
 * The engine's cluster port over any transport: quorum reads, fenced writes, parsed answers. Probes of pods are loaded
 * with the first one.
 */

import { getHeapStatistics } from "node:v8";
import { ApiError, type HttpRequest, type HttpResponse, type Transport } from "../../core/http.ts";
import { fieldsOf } from "../../core/json.ts";
import { apiVersionOf, type Ref, type Stored } from "../../core/object.ts";
import type { Projection } from "../../core/plan.ts";
import { openShare, type Share } from "../../core/share.ts";
import type { Answer, Cluster } from "../../engine/ports.ts";
import { collectionPath, objectPath, openPaging, type PageSize, selectorOf, withQuery } from "../../kube/paths.ts";
import { dateOf, errorOf, pageOf, saysGone, storedOf } from "../../kube/responses.ts";
import { json, mergePatchJson, metadataOfOne } from "./requests.ts";

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
  /** By the path of a list. */
  readonly pageSizes: Map<string, PageSize>;
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
  const paging = openPaging(pageSize, path, pageSizes, query.namespace === "");
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

const lateQuestions = (transport: Transport): Cluster["proxyGet"] => {
  let opened: Promise<Cluster["proxyGet"]> | undefined;
  return async (asking) => {
    opened ??= import("./pod-proxy.ts").then(({ openQuestions }) => openQuestions(transport));
    return await (await opened)(asking);
  };
};

/** Opens the cluster port over a transport. */
export const openCluster = (
  transport: Transport,
  { listBytes = getHeapStatistics().heap_size_limit / 5, ...options }: ClusterOptions = {},
): Cluster => {
  const share = openShare(listBytes);
  const own = { transport, share, pageSizes: new Map<string, PageSize>() };
  const settled: Settled = { ...own, timeoutMs: 5_000, pageSize: 500, now: Date.now, ...options };
  return {
    get: (ref, only) => get(settled, ref, only),
    list: (query) => list(settled, query),
    proxyGet: lateQuestions(transport),
    logEnd: async (pod, container, most) => (await import("./pod-log.ts")).openLogEnds(transport)(pod, container, most),
    create: (ref, object) => create(settled, ref, object),
    remove: (ref, fence) => remove(settled, ref, fence),
    evict: (ref, uid) => evict(settled, ref, uid),
    patch: (ref, fence, fields) => patch(settled, ref, fence, fields),
    patchStatus: (ref, resourceVersion, status) => patchStatus(settled, ref, resourceVersion, status),
  };
};
