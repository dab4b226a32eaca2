/**
 * What a host knows without asking: its own steps' records, and its forwarder's trimmed objects. A record is given out
 * only while the object, as it is watched, says nothing that it did not say then, but for its status, which is ours.
 */
import { same } from "../core/json.ts";
import { type Key, textOf } from "../core/key.ts";
import type { Ref, Resource, Stored } from "../core/object.ts";
import type { Looking } from "../engine/observe.ts";
import type { Recall, Recollection } from "../engine/recall.ts";
import type { Forwarder } from "../forward/start.ts";
import { labelOf } from "../kube/pods.ts";
import { trim } from "../kube/trim.ts";

type Known = Forwarder["known"];

type Settings = {
  /** Trimmed objects; undefined unless all are known. */
  readonly known: Known;
  readonly resourceOf: (kind: string) => Resource | undefined;
};

/** So many keys are remembered; the one that was longest without a step is forgotten first. */
const most = 2_000;

/** What users say: all but the version, which every status write changes. */
const saidIn = ({ metadata }: Stored): unknown => {
  const { resourceVersion: _, ...said } = metadata;
  return said;
};

type Listing = Extract<Looking, { do: "list" }>;

/** What a field selector would find is not told by what is kept of an object. */
const allOf = (known: Known, { kind }: Key, query: Listing): readonly Stored[] | undefined => {
  const { resource, namespace, labels } = query;
  const seen = query.field === undefined ? known({ kind, resource, namespace }) : undefined;
  if (seen === undefined) return undefined;
  const wanted = Object.entries(labels);
  const found: Stored[] = [];
  for (const object of seen.values()) {
    const isWanted = wanted.every(([name, value]) => labelOf(object, name) === value);
    if (isWanted && (namespace === "" || object.metadata.namespace === namespace)) found.push(object);
  }
  return found;
};

/** What was not seen to be there may be news. */
const oneOf = (known: Known, { kind }: Key, { resource, namespace = "", name }: Ref): readonly Stored[] | undefined => {
  const seen = known({ kind, resource, namespace }) ?? known({ resource, namespace });
  const found = seen?.get(namespace, name);
  return found === undefined ? undefined : [found];
};

/** `kept`: what is remembered of each key, by its text. */
export const openRecall = ({ known, resourceOf }: Settings, kept = new Map<string, Recollection>()): Recall => {
  const isCurrent = ({ kind, namespace, name }: Key, { object }: Recollection): boolean => {
    const resource = resourceOf(kind);
    const watched = resource === undefined ? undefined : known({ kind, resource, namespace })?.get(namespace, name);
    return watched !== undefined && same(saidIn(watched), saidIn(trim(object)));
  };
  return {
    take: (key) => {
      const id = textOf(key);
      const recollection = kept.get(id);
      kept.delete(id);
      return recollection !== undefined && isCurrent(key, recollection) ? recollection : undefined;
    },
    keep: (key, recollection) => {
      kept.set(textOf(key), recollection);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    },
    look: (key, query) => (query.do === "get" ? oneOf(known, key, query.ref) : allOf(known, key, query)),
  };
};
