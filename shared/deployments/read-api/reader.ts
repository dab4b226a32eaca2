/**
 * Reads objects for the HTTP API: page by page, or one with its record and pods, as the command line does; from the
 * cluster, and from the table of its records, if they are in one.
 */
import type { z } from "zod";
import { pages } from "../../adapters/kubernetes/requests.ts";
import {
  type Cursor,
  type detail,
  type Executors,
  type Item,
  type ListQuery,
  type losses,
  type page,
  tokenOf,
  type updates,
} from "../../api/read-schemas.ts";
import { ApiError } from "../../core/http.ts";
import { keyKindOf, type Stored } from "../../core/object.ts";
import { timeText } from "../../core/time.ts";
import { notServed, Refused } from "../../inspection/io/refusal.ts";
import type { ReadTable, Source } from "../../inspection/io/session.ts";
import { kindNamed, shownKinds, usual } from "../../inspection/kinds/all.ts";
import type { Kind } from "../../inspection/kinds/kind.ts";
import { look, type StatusInput, statusView } from "../../inspection/status.ts";
import { labelOf, leavingAt, nodeNameOf, podStatus } from "../../kube/pods.ts";
import { openAccess } from "../common/cluster-access.ts";
import { once } from "../common/once.ts";
import type { Access, Place } from "../settings/formats.ts";

export type ObjectName = { readonly kind: string; readonly namespace: string; readonly name: string };

/** Everything that the API shows of one object. */
export type ObjectDetail = {
  readonly detail: z.infer<typeof detail>;
  readonly executors: Executors;
  readonly losses: z.infer<typeof losses>;
  readonly updates: z.infer<typeof updates>;
};

export type Reader = {
  /** `namespaces`: the caller's namespaces; empty: all. */
  list(query: ListQuery, at: Cursor, namespaces: readonly string[]): Promise<z.infer<typeof page>>;
  /** Undefined when there is no such object. */
  find(named: ObjectName): Promise<ObjectDetail | undefined>;
};

/** Returns an object as an item of a list, without undefined fields. */
const itemOf = (kind: Kind, object: Stored): Item => {
  const { name, namespace = "", uid, creationTimestamp } = object.metadata;
  const { state, attempts, message, ended } = kind.stateOf(object);
  return {
    ...{ kind: keyKindOf(kind.resource), namespace, name, uid, state },
    ...(creationTimestamp === undefined ? {} : { createdAt: creationTimestamp }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(message === undefined ? {} : { message }),
    ...(ended === undefined ? {} : { ended }),
  };
};

const executorsIn = (pods: readonly Stored[]): Executors => ({
  items: pods.flatMap((pod) => {
    const id = labelOf(pod, "spark-exec-id");
    if (id === undefined) return [];
    const [node, goes] = [nodeNameOf(pod), leavingAt(pod)];
    const { name, creationTimestamp } = pod.metadata;
    return [
      {
        ...{ id, pod: name, phase: podStatus(pod).phase ?? "Unknown" },
        ...(node === undefined ? {} : { node }),
        ...(creationTimestamp === undefined ? {} : { createdAt: creationTimestamp }),
        ...(goes === undefined ? {} : { leavingAt: timeText(goes) }),
      },
    ];
  }),
});

const shown = (kind: Kind, seen: StatusInput): ObjectDetail => {
  const { waitsFor, since, until, do: todo, executors, updates: delivery } = statusView(seen);
  const { tries, error, next } = delivery ?? {};
  return {
    detail: {
      ...itemOf(kind, seen.object),
      ...{ waitsFor, do: todo },
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    },
    executors: executorsIn(seen.pods),
    losses: { lost: executors?.lost ?? {}, items: [...(executors?.losses ?? [])] },
    updates: {
      waiting: delivery?.waiting ?? 0,
      ...(delivery === undefined || delivery.waiting === 0 ? {} : { since: delivery.since }),
      ...(tries === undefined ? {} : { tries }),
      ...(error === undefined ? {} : { error }),
      ...(next === undefined ? {} : { next }),
    },
  };
};

const kindFor = (name: string): Kind | undefined =>
  shownKinds.some((one) => one === name) ? kindNamed(name) : undefined;

/** True where the kind is not installed, which counts as no objects; a missing table stays an error. */
const isUnserved = (cause: unknown): boolean => cause instanceof ApiError && notServed(cause);

export const openReader = (source: Source): Reader => ({
  list: async ({ kind: name, namespace, state, selector, limit }, at, namespaces) => {
    const kind = name === undefined ? usual : kindFor(name);
    const places = namespace === undefined ? (namespaces.length === 0 ? [""] : namespaces) : [namespace];
    const place = places[at.n];
    if (kind === undefined || place === undefined) return { items: [] };
    const listing = pages(source.transport, { resource: kind.resource, namespace: place, selector, limit, from: at.c });
    const { value: found } = await listing.next().catch((cause: unknown) => {
      if (isUnserved(cause)) return { value: undefined };
      throw cause;
    });
    const objects: readonly Stored[] = found?.items ?? [];
    const items = objects.map((object) => itemOf(kind, object));
    const next = found?.next === undefined ? { n: at.n + 1 } : { n: at.n, c: found.next };
    const more = next.n < places.length ? { continue: tokenOf(next) } : {};
    return { items: items.filter((one) => state === undefined || one.state === state), ...more };
  },
  find: async ({ kind: name, namespace, name: of }) => {
    const kind = kindFor(name);
    if (kind === undefined) return undefined;
    const key = { cluster: "default", kind: name, namespace, name: of };
    try {
      return shown(kind, await look(source, { kind, key }, Date.now()));
    } catch (cause) {
      if (cause instanceof Refused || isUnserved(cause)) return undefined;
      throw cause;
    }
  },
});

/**
 * Returns the table of one cluster's records; undefined: they are objects of the cluster. The client is loaded with the
 * first request.
 */
export const tableIn = (kept: Place, cluster: string): ReadTable | undefined => {
  if (kept.in === "kubernetes") return undefined;
  const { table: name, region } = kept;
  const open = once(async () => {
    const { openTableReader } = await import("../../adapters/dynamodb/table.ts");
    return openTableReader({ table: name, cluster, region });
  });
  return { name, cluster, records: { load: async (key) => (await open()).load(key) } };
};

/** Opens everything without a request. `cluster`: its alias. */
export const readFrom = (access: Access, kept: Place, cluster: string): Reader =>
  openReader({ transport: openAccess(access, { userAgent: "rekindle-api" }), table: tableIn(kept, cluster) });
