/** The kinds that the command line knows, and their names. */

import { apiVersionOf, type Obj } from "../../core/object.ts";
import { nearTo } from "../../core/text.ts";
import type { Kind } from "./kind.ts";
import { isNameOf } from "./name.ts";
import { scheduledSparkApplication, sparkApplication, sparkConnect } from "./spark.ts";
import { volcanoCronJob, volcanoJob, volcanoJobFlow } from "./volcano.ts";

/** The kinds of Spark; the first is meant where the user names none. */
export const kinds = [sparkApplication, scheduledSparkApplication, sparkConnect] as const;

export const [usual] = kinds;

/** The kinds of all families. */
export const everyKind: readonly Kind[] = [...kinds, volcanoJob, volcanoCronJob, volcanoJobFlow];

/** A kind by its name, plural or short name, with or without its group, or by a beginning of at least eight letters. */
export const kindNamed = (text: string): Kind | undefined => {
  const word = text.toLowerCase();
  return everyKind.find(({ resource, shortNames }) => {
    const isBeginning = (name: string): boolean => word.length >= 8 && name.startsWith(word);
    return isNameOf(resource, shortNames, word) || [resource.kind.toLowerCase(), resource.plural].some(isBeginning);
  });
};

/** Kinds that a misspelt word may mean. */
export const kindsNear = (word: string): readonly string[] => {
  const words = everyKind.flatMap(({ resource, shortNames }) =>
    [resource.kind, resource.plural, ...shortNames].map((name) => ({ name, kind: resource.kind })),
  );
  const near = nearTo(
    word,
    words.map(({ name }) => name),
  );
  return [...new Set(near.flatMap((name) => words.find((one) => one.name === name)?.kind ?? []))];
};

/** The kind of an object, by its apiVersion and kind. */
export const kindOf = ({ apiVersion, kind }: Pick<Obj, "apiVersion" | "kind">): Kind | undefined =>
  everyKind.find(({ resource }) => resource.kind === kind && apiVersionOf(resource) === apiVersion);

export const kindNames: string = everyKind.map(({ resource }) => resource.kind).join(", ");
