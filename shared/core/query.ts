/** The reads of decisions, and their answers. */
import type { Ref, Resource, Stored } from "./object.ts";

/** Returns the parts of an object that a decision reads; undefined: it does not need the object. */
export type Projection = (object: Stored) => Stored | undefined;

/** A read of a decision. Answers are live, except in steps that may begin with the cache: see engine/cache.ts. */
export type Query =
  | {
      readonly do: "get";
      readonly ref: Ref;
      /**
       * A step that began with the cache may take this object from its watch, if it is there. "firm": only if the watch
       * is not behind any read of the key's steps.
       */
      readonly known?: true | "firm";
      /** If this very step has created the object, the server's answer to the creation serves. */
      readonly created?: true;
    }
  | {
      readonly do: "list";
      readonly resource: Resource;
      readonly namespace: string;
      readonly labels: Readonly<Record<string, string>>;
      /** Reads again: the watch may not answer it; see engine/cache.ts. */
      readonly again?: true;
      /** Field selector sent to the server, as `metadata.name=x`. */
      readonly field?: string;
      /** Clusters may do without the kind: if it is not served, the list is empty. */
      readonly spared?: true;
      /** If listing is forbidden, the list is empty. */
      readonly optional?: true;
      /**
       * Begins a list anew; the result is applied to each page before the next is read. For lists of all namespaces,
       * which are larger than any memory if a tenant wants it.
       */
      readonly projecting?: () => Projection;
    }
  | {
      /** Reads an object that the service account may not be allowed to read; 403 is an answer, not a trouble. */
      readonly do: "getIfAllowed";
      readonly ref: Ref;
    }
  | {
      /** Reads JSON from a pod through the API server's pod proxy. A failure is an answer, not a trouble. */
      readonly do: "proxyGet";
      readonly pod: Ref;
      readonly port: number;
      /** Segments of the path; each is encoded for a URL. */
      readonly path: readonly string[];
      /** The query string of the URL, without its question mark. */
      readonly query?: string;
      /** A header to send; headers that mean something to the API server are left out. */
      readonly header?: { readonly name: string; readonly value: string };
      /** Longest answer, bytes, if it may exceed the default of 1 MiB. */
      readonly mostBytes?: number;
    };

/** The reason why a probe has no answer. `notFound` is the pod's own 404, `notJson` an answer of another type. */
export type ProbeFailure = "forbidden" | "unreachable" | "timeout" | "notFound" | "notJson" | "tooLong";

export type Listing = Extract<Query, { do: "list" }>;

/** A read of objects: a recovery may ask it, and a watch may answer it. */
export type Looking = Extract<Query, { do: "get" | "list" }>;

/** A read that may fail without harm: its failure is an answer. */
export type Probe = Exclude<Query, Looking>;

/** The result of a probe. An answer of a pod is untrusted: parse it before use. */
export type ProbeResult =
  | { readonly heard: true; readonly value: unknown }
  | { readonly heard: false; readonly why: ProbeFailure; readonly message: string };
