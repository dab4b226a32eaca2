/** Maps a change of an object to the keys that it may concern. Pure: the watches of the operators decide. */
import { dedupe, type Key, type Message } from "../core/key.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Operator, Watch } from "../core/operator.ts";
import { trim } from "../kube/trim.ts";

/** The parts of an operator that a forwarder needs. */
export type Watcher = Pick<
  Operator<unknown>,
  "kind" | "resource" | "watches" | "optional" | "scope" | "family" | "field" | "founds" | "settled" | "encloses"
>;

/** A message and its deduplication id, under which the queue drops a second copy. */
export type Sending = { readonly message: Message; readonly dedupeId: string; readonly urgent?: true };

type Interest = { readonly kind: string; readonly scope: Watcher["scope"]; readonly watch: Watch };

/** One watched collection, and the watches that it serves. */
export type Subject = {
  readonly resource: Resource;
  readonly selector: string | undefined;
  readonly field: string | undefined;
  readonly interests: readonly Interest[];
  /** True if it is no error when the server does not serve the resource. */
  readonly optional: boolean;
  /** Returns the parts of an object that are kept. */
  readonly trim: (object: Stored) => Stored;
};

/** An object before and after a change; without `before` it is new, without `after` it is deleted. */
export type Change =
  | { readonly before: Stored | undefined; readonly after: Stored }
  | { readonly before: Stored; readonly after: undefined };

const sameResource = (a: Resource, b: Resource): boolean => a.group === b.group && a.plural === b.plural;

const idOf = ({ group, version, plural }: Resource, selector: string | undefined, field: string | undefined): string =>
  JSON.stringify([group, version, plural, selector ?? "", field ?? ""]);

const bothSelectors = (a: string | undefined, b: string | undefined): string | undefined =>
  [a, b].filter((part) => part !== undefined && part !== "").join(",") || undefined;

/** Returns the subjects of all operators; equal watches share one. `selector` restricts the operators' own objects. */
export const subjectsOf = (watchers: readonly Watcher[], selector?: string): readonly Subject[] => {
  const subjects = new Map<string, Subject>();
  for (const { kind, resource, scope, watches, optional: spared = false } of watchers) {
    for (const watch of watches) {
      const own = sameResource(watch.resource, resource);
      const wanted = bothSelectors(watch.selector, own && scope === undefined ? selector : undefined);
      const { field } = watch;
      const id = idOf(watch.resource, wanted, field);
      const known = subjects.get(id);
      const interests = [...(known?.interests ?? []), { kind, scope, watch }];
      const optional = spared && (own || watch.optional === true) && (known?.optional ?? true);
      const { resource: watched } = watch;
      subjects.set(id, { resource: watched, selector: wanted, field, interests, optional, trim: trimFor(interests) });
    }
  }
  return [...subjects.values()];
};

/** True if the subject is what a kind watches of the resource; without a kind: if it is all of the resource. */
export const shows = (
  { resource, selector, field, interests }: Subject,
  asked: { readonly kind?: string | undefined; readonly resource: Resource },
): boolean => {
  if (!sameResource(resource, asked.resource)) return false;
  if (asked.kind === undefined) return selector === undefined && field === undefined;
  return interests.some(({ kind }) => kind === asked.kind);
};

/** Returns a function that keeps the parts that any of the watches needs. */
const trimFor = (interests: Subject["interests"]): Subject["trim"] => {
  const own = interests.flatMap(({ watch }) => (watch.trim === undefined ? [] : [watch.trim]));
  const trims = own.length < interests.length ? [trim, ...own] : own;
  const [first = trim, ...others] = trims;
  return (object) => Object.assign(first(object), ...others.map((one) => one(object)));
};

const hinted = (key: Key, change: Change): Message => {
  const { kind, metadata } = change.after ?? change.before;
  const what = changeIn(change);
  return {
    ...key,
    reason: `${kind} ${metadata.name} ${what}`,
    resourceVersion: metadata.resourceVersion,
    watched: true,
    ...(what === "new" && kind === key.kind ? { fresh: true } : {}),
  };
};

/** Returns the owners before and after the change: if a child changes its owner, both must know. */
const ownersOf = (watch: Watch, { before, after }: Change): readonly string[] => {
  const names = [before, after].map((object) => (object === undefined ? undefined : watch.ownerName(object)));
  return [...new Set(names)].filter((name): name is string => name !== undefined && name !== "");
};

const changeIn = ({ before, after }: Change): "gone" | "new" | "changed" => {
  if (after === undefined) return "gone";
  return before === undefined ? "new" : "changed";
};

/**
 * Returns the messages for a change of a trimmed object; none if it concerns no key. `unsure`: an object without
 * `before` may be an old one whose earlier state is unknown.
 */
export const sendingsOf = (cluster: string, subject: Subject, change: Change, unsure = false): readonly Sending[] => {
  const { before, after } = change;
  const unknown = unsure && before === undefined;
  const { kind: child, metadata } = after ?? change.before;
  const { uid, resourceVersion, namespace = "" } = metadata;
  return subject.interests.flatMap(({ kind, scope, watch }) => {
    if (after !== undefined && !unknown && !watch.matters(before, after)) return [];
    return ownersOf(watch, change).map((name): Sending => {
      const key: Key = { cluster, kind, namespace: scope === "Cluster" ? "" : namespace, name };
      const dedupeId =
        after === undefined ? dedupe.gone(key, uid) : dedupe.watch(key, { kind: child, uid, resourceVersion });
      const urgent = watch.urgent?.(before, after) === true ? { urgent: true as const } : {};
      return { message: hinted(key, change), dedupeId, ...urgent };
    });
  });
};
