/**
 * Requests beside the engine's port, for the command line and for a resync: patches, server-side apply, pages, bare
 * reads.
 */
import type { HttpRequest, Transport } from "../../core/http.ts";
import { apiVersionOf, type Obj, type Ref, type Resource, type Stored } from "../../core/object.ts";
import { collectionPath, objectPath, openPaging, withQuery } from "../../kube/paths.ts";
import { bodyOf, type Json, type Page, pageOf, storedOf } from "../../kube/responses.ts";

export const json = { "content-type": "application/json" } as const;
export const mergePatchJson = { "content-type": "application/merge-patch+json" } as const;
const jsonPatchJson = { "content-type": "application/json-patch+json" } as const;
const applyPatch = { "content-type": "application/apply-patch+yaml" } as const;

/** Asks for the metadata of one object; an error is answered whole. */
export const metadataOfOne = {
  accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json",
} as const;

const metadataOnly = { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" } as const;

const timeoutMs = 5_000;

/** Sends one request and returns the JSON of a success; throws `ApiError` for every other answer. */
export const request = async (
  transport: Transport,
  method: HttpRequest["method"],
  path: string,
  body?: unknown,
): Promise<Json> => {
  const sent = {
    method,
    path,
    headers: json,
    timeoutMs,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  return bodyOf(`${method} ${path.split("?")[0]}`, await transport.send(sent));
};

type Patching = { readonly ref: Ref; readonly subresource?: string };

const patch = async (
  transport: Transport,
  target: Patching,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<Stored> => {
  const path = withQuery(objectPath(target.ref, target.subresource), query);
  const sent = { method: "PATCH", path, headers, body: JSON.stringify(body), timeoutMs } as const;
  return storedOf(`patch ${path.split("?")[0]}`, await transport.send(sent));
};

/** Server-side apply: creates the object, or takes over the fields that it sets for `manager`. */
export const applyObject = (
  transport: Transport,
  ref: Ref,
  object: Obj,
  as: { readonly manager: string; readonly force?: boolean; readonly dryRun?: boolean },
): Promise<Stored> =>
  patch(transport, { ref }, applyPatch, object, {
    fieldManager: as.manager,
    force: as.force === true ? "true" : undefined,
    dryRun: as.dryRun === true ? "All" : undefined,
  });

/** RFC 7386 merge patch. */
export const mergeObject = (transport: Transport, target: Patching, change: unknown): Promise<Stored> =>
  patch(transport, target, mergePatchJson, change);

/** RFC 6902 JSON patch: a list of operations; a `test` operation makes it conditional. */
export const jsonPatchObject = (
  transport: Transport,
  target: Patching,
  operations: readonly unknown[],
): Promise<Stored> => patch(transport, target, jsonPatchJson, operations);

/** Creates an object. Returns it as the server made it: its name may come from `generateName`. */
export const createObject = async (transport: Transport, resource: Resource, object: Obj): Promise<Stored> => {
  const sent = {
    method: "POST",
    path: collectionPath(resource, object.metadata.namespace),
    headers: json,
    body: JSON.stringify(object),
    timeoutMs,
  } as const;
  return storedOf(`create ${sent.path}`, await transport.send(sent));
};

/** Replaces a whole object; the server refuses it unless its resourceVersion, if given, is current. */
export const replaceObject = async (transport: Transport, ref: Ref, object: Obj): Promise<Stored> => {
  const sent = {
    method: "PUT",
    path: objectPath(ref),
    headers: json,
    body: JSON.stringify(object),
    timeoutMs,
  } as const;
  return storedOf(`put ${sent.path}`, await transport.send(sent));
};

export type Paging = {
  readonly resource: Resource;
  /** "" or undefined: all namespaces. */
  readonly namespace?: string;
  readonly selector?: string | undefined;
  readonly limit?: number;
  /** Continue token at which an earlier read stopped. */
  readonly from?: string | undefined;
  readonly field?: string | undefined;
  /** Reads only metadata: the server leaves out `spec` and `status`. */
  readonly metadataOnly?: boolean;
};

/** Yields a list page by page. A 410 throws an `ApiError` of reason Expired; the caller must begin again. */
export async function* pages(transport: Transport, paging: Paging): AsyncGenerator<Page> {
  const { resource, namespace, selector, limit = 500 } = paging;
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  const fitting = openPaging(limit);
  let next = paging.from;
  do {
    const pathOf = (size: number): string =>
      withQuery(collectionPath(resource, namespace), {
        labelSelector: selector,
        fieldSelector: paging.field,
        limit: String(size),
        continue: next,
      });
    const headers = paging.metadataOnly === true ? metadataOnly : {};
    const response = await fitting((size, limitBytes) =>
      transport.send({ method: "GET", path: pathOf(size), headers, timeoutMs, ...(limitBytes && { limitBytes }) }),
    );
    const page = pageOf(`list ${resource.plural}`, response, type);
    yield paging.metadataOnly === true ? { ...page, items: page.items.map((item) => ({ ...item, ...type })) } : page;
    next = page.next;
  } while (next !== undefined);
}
