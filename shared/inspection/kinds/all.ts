/** The kinds that the command line knows, and their names. */

import { apiVersionOf, keyKindOf, type Obj } from "../../core/object.ts";
import { nearTo } from "../../core/text.ts";
import { inspections } from "../../registry/inspections.ts";
import type { Kind } from "./kind.ts";
import { isNameOf } from "./name.ts";

/** The kinds of all families that people are shown. */
export const everyKind: readonly Kind[] = inspections.map(
  ({ kind: { resource, shortNames, commands }, ...inspection }) => ({
    ...{ ...inspection, resource, shortNames },
    ...(commands === undefined ? {} : { commands }),
  }),
);

const [first] = everyKind;
if (first === undefined) throw new Error("no kind is shown");

/** The kind that is meant where the user names none: the registry's first. */
export const usual: Kind = first;

/**
 * A kind by its name, plural or short name, with or without its group, or by a beginning of at least eight letters. A name
 * of two groups without a group is the first one's.
 */
export const kindNamedIn = <Named extends Pick<Kind, "resource" | "shortNames">>(
  among: readonly Named[],
  text: string,
): Named | undefined => {
  const word = text.toLowerCase();
  return among.find(({ resource, shortNames }) => {
    const isBeginning = (name: string): boolean => word.length >= 8 && name.startsWith(word);
    const beginnings = [keyKindOf(resource).toLowerCase(), resource.plural];
    return isNameOf(resource, shortNames, word) || beginnings.some(isBeginning);
  });
};

export const kindNamed = (text: string): Kind | undefined => kindNamedIn(everyKind, text);

/** Kinds that a misspelt word may mean. */
export const kindsNear = (word: string): readonly string[] => {
  const words = everyKind.flatMap(({ resource, shortNames }) =>
    [keyKindOf(resource), resource.plural, ...shortNames].map((name) => ({ name, kind: keyKindOf(resource) })),
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

/** The kinds of keys, the usual one first. */
export const shownKinds: readonly [string, ...string[]] = [
  keyKindOf(usual.resource),
  ...everyKind.slice(1).map(({ resource }) => keyKindOf(resource)),
];

export const kindNames: string = shownKinds.join(", ");
