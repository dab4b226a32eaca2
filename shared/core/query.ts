/** The reads that decisions ask for, and their answers. */
import type { Ref, Resource } from "./object.ts";

/** A read that a decision asks for. It is answered live, but in steps that may begin with what is watched: see engine/reads/cache.ts. */
export type Query =
  | {
      readonly do: "get";
      readonly ref: Ref;
      /**
       * Such a step need not read it either, where it is watched and known to be there; "firm": and what is watched is no
       * older than anything that the key's steps have read or been told by others.
       */
      readonly known?: true | "firm";
    }
  | {
      readonly do: "list";
      readonly resource: Resource;
      readonly namespace: string;
      readonly labels: Readonly<Record<string, string>>;
      /** A second look, which what was watched cannot answer: see engine/reads/cache.ts. */
      readonly again?: true;
      /** Field selector sent to the server, as `metadata.name=x`. */
      readonly field?: string;
      /** Of a kind that clusters may do without: where it is not served, there is none. */
      readonly spared?: true;
      /** Worth a look and no more: who may not list it goes on as if there were none. */
      readonly optional?: true;
    }
  | {
      /** A look at what may be hidden from us: a server that says so is answered with that, and nothing is in the way. */
      readonly do: "getIfAllowed";
      readonly ref: Ref;
    }
  | {
      /** Asks a pod itself for JSON, through the API server's pod proxy. Never in the way: it may be deaf, and says so. */
      readonly do: "proxyGet";
      readonly pod: Ref;
      readonly port: number;
      /** Segments of the path; each is made safe for a URL. */
      readonly path: readonly string[];
      /** What stands behind the path's question mark. */
      readonly query?: string;
      /** Sent along, but for those that would mean something to the API server on the way. */
      readonly header?: { readonly name: string; readonly value: string };
      /** Bytes of the longest answer that is read, where more than the usual 1 MiB may be right. */
      readonly mostBytes?: number;
    };

/** Why a question was not answered. `notFound` is the pod's own 404, `notJson` an answer of another kind. */
export type ProbeFailure = "forbidden" | "unreachable" | "timeout" | "notFound" | "notJson" | "tooLong";

/** A read of objects: what a recovery may ask for, and what a watch may answer. */
export type Looking = Extract<Query, { do: "get" | "list" }>;

/** A read that may fail without harm: its failure is an answer. */
export type Probe = Exclude<Query, Looking>;

/** What came back of a question. What a pod says is anybody's words: parse it before use. */
export type ProbeResult =
  | { readonly heard: true; readonly value: unknown }
  | { readonly heard: false; readonly why: ProbeFailure; readonly message: string };
