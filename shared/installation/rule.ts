/** A rule of a role: verbs on resources of an API group. */
import type { Family } from "../kube/resources.ts";
import { installations } from "../registry/installations.ts";

export type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

export const rule = (group: string, resources: readonly string[], verbs: readonly string[]): Rule => ({
  apiGroups: [group],
  resources,
  verbs,
});

type Installed = (typeof installations)[number];

/** Returns a rule for each API group of the chosen families: the verbs on all of its kinds that have the same. */
export const kindRules = (
  chosen: readonly Family[],
  verbsOf: (kind: Installed) => readonly string[] | undefined,
): readonly Rule[] => {
  const all = installations.flatMap((one) => {
    const { family, resource } = one.kind;
    const verbs = chosen.includes(family) ? (verbsOf(one) ?? []) : [];
    return verbs.length === 0 ? [] : [{ group: resource.group, plural: resource.plural, verbs }];
  });
  return [...Map.groupBy(all, ({ group, verbs }) => JSON.stringify([group, verbs])).values()].flatMap((same) => {
    const [first] = same;
    const plurals = same.map(({ plural }) => plural);
    return first === undefined ? [] : [rule(first.group, plurals, first.verbs)];
  });
};
