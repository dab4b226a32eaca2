/** `rekindle recover`: which keys there are to recover, and how what came of it is told. */
import { type CheckpointHint, checkpointResource, hintOf } from "../adapters/checkpoints/object.ts";
import { pages } from "../adapters/kubernetes/requests.ts";
import { ApiError } from "../core/errors.ts";
import type { Key } from "../core/key.ts";
import type { Metadata, Resource } from "../core/object.ts";
import { notServed } from "./failure.ts";
import { kinds } from "./kinds/all.ts";
import { asJson, asYaml } from "./output.ts";
import type { Recovered, Session } from "./tools.ts";

/** Nothing of what is not served. */
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

const textOf = ({ kind, namespace, name }: Omit<Key, "cluster">): string =>
  `${kind.toLowerCase()}/${namespace}/${name}`;

const hintsIn = async (session: Session, namespace: string): Promise<readonly CheckpointHint[]> => {
  if (session.table !== undefined) return await session.table.records.hints(namespace === "" ? [] : [namespace]);
  const objects = await metadataIn(session, checkpointResource, namespace);
  return objects.map(hintOf).filter((hint) => hint !== undefined);
};

/** Every object of a namespace, and every record whose object is gone, in order. An empty namespace is all of them. */
export const keysIn = async (session: Session, namespace: string): Promise<readonly Key[]> => {
  const known = new Set<string>(kinds.map(({ resource }) => resource.kind));
  const objects = await Promise.all(
    kinds.map(async ({ resource }) => {
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
    .filter(({ kind }) => known.has(kind))
    .map(({ kind, namespace: at, name }) => ({ cluster: "default", kind, namespace: at, name }));
  const all = new Map([...recorded, ...objects.flat()].map((key) => [textOf(key), key]));
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
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
