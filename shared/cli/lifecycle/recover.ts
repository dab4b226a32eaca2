/** `rekindle recover`: finds the keys to recover, and prints the results. */
import { type CheckpointHint, checkpointResource, hintOf } from "../../adapters/checkpoints/object.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/errors.ts";
import type { Key } from "../../core/key.ts";
import type { Metadata, Resource } from "../../core/object.ts";
import { notServed } from "../io/failure.ts";
import { asJson, asYaml } from "../io/output.ts";
import type { Recovered, Session } from "../io/tools.ts";
import { everyKind } from "../kinds/all.ts";
import { jobTemplates, queues } from "../kinds/job-shape.ts";
import { findTarget, isMissing, severally, targetOf } from "../selection/target.ts";

/** A kind that has records. `scope` as of an operator: its objects have no namespace. */
type Place = { readonly resource: Resource; readonly names: readonly string[]; readonly scope?: "Cluster" };

/** Kinds that have records, and that no other command knows. */
const others: readonly Place[] = [
  {
    resource: jobTemplates,
    names: ["jobtemplate", "jobtemplates", "jt"],
  },
  { resource: queues, names: ["queue", "queues", "q"], scope: "Cluster" },
];

const places: readonly Place[] = [...everyKind.map(({ resource }) => ({ resource, names: [] })), ...others];

/** Kinds whose objects create others are recovered first: otherwise they would create again what was ended. */
const makers: readonly string[] = ["CronJob", "JobFlow", "ScheduledSparkApplication"];

/** A key of a kind that no other command knows. A Queue has no namespace: `queue/NAME`. */
const otherNamed = (text: string, session: Session, namespace?: string): Key | undefined => {
  const [word = "", ...rest] = text.split("/");
  const place = others.find(({ names }) => names.includes(word.toLowerCase()));
  if (place === undefined || rest.length === 0) return undefined;
  // The form is the same for all kinds of a namespace.
  const { key } = targetOf(["job", ...rest].join("/"), session, namespace);
  return { ...key, kind: place.resource.kind, ...(place.scope === "Cluster" ? { namespace: "" } : {}) };
};

/**
 * The key of an object as people write it; see selection/target.ts for the forms. Without a kind, all kinds are searched
 * for the name, and then the records: a record may outlast its object.
 */
export const keyNamed = async (text: string, session: Session, namespace?: string): Promise<Key> => {
  const other = otherNamed(text, session, namespace);
  if (other !== undefined) return other;
  try {
    return (await findTarget(text, session, namespace)).key;
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    const { key } = targetOf(text, session, namespace);
    const [left, another] = (await keysIn(session, key.namespace)).filter(({ name }) => name === key.name);
    if (left === undefined) throw cause;
    if (another !== undefined) throw severally([left, another]);
    return left;
  }
};

/** Lists the metadata of a resource's objects; none where it is not served. */
const metadataIn = async (
  { transport }: Session,
  resource: Resource,
  namespace: string,
): Promise<readonly Metadata[]> => {
  const found: Metadata[] = [];
  try {
    for await (const page of pages(transport, { resource, namespace, metadataOnly: true }))
      found.push(...page.items.map(({ metadata }) => metadata));
  } catch (cause) {
    if (!(cause instanceof ApiError) || !notServed(cause)) throw cause;
  }
  return found;
};

/** A key as this command takes it. */
const textOf = ({ kind, namespace, name }: Omit<Key, "cluster">): string =>
  [kind.toLowerCase(), namespace, name].filter((part) => part !== "").join("/");

const rankOf = ({ kind }: Key): number => (makers.includes(kind) ? 0 : 1);

const hintsIn = async (session: Session, namespace: string): Promise<readonly CheckpointHint[]> => {
  if (session.table !== undefined) return await session.table.records.hints(namespace === "" ? [] : [namespace]);
  const objects = await metadataIn(session, checkpointResource, namespace);
  return objects.map(hintOf).filter((hint) => hint !== undefined);
};

/** The keys of objects, and of records without an object, in order. Namespace "": all namespaces, and cluster scope. */
export const keysIn = async (session: Session, namespace: string): Promise<readonly Key[]> => {
  const known = new Set<string>(places.map(({ resource }) => resource.kind));
  const looked = places.filter(({ scope }) => scope === undefined || namespace === "");
  const objects = await Promise.all(
    looked.map(async ({ resource }) => {
      const there = await metadataIn(session, resource, namespace);
      return there.map(({ name, namespace: at = "" }) => ({
        cluster: "default",
        kind: resource.kind,
        namespace: at,
        name,
      }));
    }),
  );
  const recorded = (await hintsIn(session, namespace))
    .filter(({ kind, namespace: at }) => known.has(kind) && (namespace === "" || at === namespace))
    .map(({ kind, namespace: at, name }) => ({ cluster: "default", kind, namespace: at, name }));
  const all = new Map([...recorded, ...objects.flat()].map((key) => [textOf(key), key]));
  const first = ([a, one]: [string, Key], [b, other]: [string, Key]): number =>
    rankOf(one) - rankOf(other) || (a < b ? -1 : 1);
  return [...all].sort(first).map(([, key]) => key);
};

const line = (head: string, words: readonly string[]): readonly string[] =>
  words.length === 0 ? [] : [`  ${head.padEnd(9)}${words.join(", ")}`];

const block = (one: Recovered): string =>
  [
    `${textOf(one)}  ${one.did}`,
    ...line("found", [`${one.record}: ${one.why}`]),
    ...line("kept", one.kept),
    ...line("wrong", one.problems),
    ...line("adopted", one.adopted),
    ...line("ended", one.ended),
    ...line("settings", one.configured === undefined ? [] : [one.configured]),
    ...line("waits", one.waitsFor === undefined ? [] : [`for ${one.waitsFor}`]),
  ].join("\n");

const sum = (all: readonly Recovered[]): string => {
  const refused = all.filter((one) => one.refused !== undefined).length;
  const waiting = all.filter((one) => one.waitsFor !== undefined).length;
  return `${all.length} looked at, ${refused} refused, ${waiting} not settled yet`;
};

export const recoveredText = (all: readonly Recovered[], form: string): string => {
  if (form === "json") return asJson(all);
  if (form === "yaml") return asYaml(all);
  return [...all.map(block), sum(all)].join("\n");
};
