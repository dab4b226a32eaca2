/** Kinds by their names, for components that only pass keys on and load no decisions; and the family of an API group. */
import { keyKindOf, type Resource } from "../core/object.ts";
import { type DeclaredKind, isSameKind } from "../kube/declared-kind.ts";
import type { Family } from "../kube/resources.ts";
import { companions } from "../volcano/schema/resource.ts";
import { kinds } from "./kinds.ts";

/** The resource of each kind. */
export const resources: readonly Resource[] = kinds.map(({ resource }) => resource);

const declaredAs = (wanted: string): DeclaredKind | undefined =>
  kinds.find(({ resource }) => keyKindOf(resource) === wanted);

export const resourceOf = (wanted: string): Resource | undefined => declaredAs(wanted)?.resource;

/** The kinds of keys. */
export const kindNames: readonly string[] = resources.map(keyKindOf);

/** True for a kind whose objects have a namespace. */
export const isNamespaced = (kind: string): boolean => declaredAs(kind)?.scope !== "Cluster";

/** Kinds of keys by the resource of their objects, as `GROUP/PLURAL`: two groups may have resources of one plural. */
export const pluralsOf = (of: readonly Resource[]): Readonly<Record<string, string>> =>
  Object.fromEntries(of.map((resource) => [`${resource.group}/${resource.plural}`, keyKindOf(resource)]));

export const plurals = pluralsOf(resources);

/** Labels of alerts that name an object, each with the kind of its key. */
export const naming: readonly { readonly label: string; readonly kind: string }[] = kinds.flatMap(
  ({ resource, alertLabels = [] }) => alertLabels.map((label) => ({ label, kind: keyKindOf(resource) })),
);

const families: ReadonlyMap<string, Family> = new Map([
  ...kinds.map(({ resource, group = resource.group, family }): [string, Family] => [group, family]),
  ...companions.map(({ group }): [string, Family] => [group, "volcano"]),
]);

/** Returns the family of the kinds in this API group; undefined if it has none. */
export const familyOf = (group: string): Family | undefined => families.get(group);

/** Makes the test whether a resource is of these families. */
export const runs =
  (chosen: readonly Family[]) =>
  ({ resource }: { readonly resource: Resource }): boolean => {
    const declared = kinds.find((one) => isSameKind(one.resource, resource));
    const family = declared?.family ?? familyOf(resource.group);
    return family !== undefined && chosen.includes(family);
  };
