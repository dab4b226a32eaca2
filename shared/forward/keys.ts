/** From a change in the world to the keys it may matter to. Pure: operators declare what they watch, this asks them. */
import { dedupe, type Key, type Message } from "../core/key.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Operator, Watch } from "../core/operator.ts";
import { trim } from "../kube/trim.ts";

/** What a forwarder needs to know of an operator. */
export type Watcher = Pick<
  Operator<unknown>,
  "kind" | "resource" | "watches" | "optional" | "scope" | "family" | "field" | "founds" | "settled"
>;

/** A message and the id under which a second copy of it vanishes. */
export type Sending = { readonly message: Message; readonly dedupeId: string; readonly urgent?: true };

type Interest = { readonly kind: string; readonly scope: Watcher["scope"]; readonly watch: Watch };

/** What is watched in one go, and for whom. */
export type Subject = {
  readonly resource: Resource;
  readonly selector: string | undefined;
  readonly field: string | undefined;
  readonly interests: readonly Interest[];
  /** Nobody minds when the server does not serve it. */
  readonly optional: boolean;
  /** What is kept of an object of this subject. */
  readonly trim: (object: Stored) => Stored;
};

/** An object as it was and as it is; without `before` it is new, without `after` it is gone. */
export type Change =
  | { readonly before: Stored | undefined; readonly after: Stored }
  | { readonly before: Stored; readonly after: undefined };

const sameResource = (a: Resource, b: Resource): boolean => a.group === b.group && a.plural === b.plural;

const idOf = ({ group, version, plural }: Resource, selector: string | undefined, field: string | undefined): string =>
  JSON.stringify([group, version, plural, selector ?? "", field ?? ""]);

const bothSelectors = (a: string | undefined, b: string | undefined): string | undefined =>
  [a, b].filter((part) => part !== undefined && part !== "").join(",") || undefined;

/** The subjects of all operators: what two of them watch alike is watched once. `selector` narrows their own objects. */
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

/** Whether a subject is what a kind watches of a resource; of no kind: whether it is all of it. */
export const shows = (
  { resource, selector, field, interests }: Subject,
  asked: { readonly kind?: string | undefined; readonly resource: Resource },
): boolean => {
  if (!sameResource(resource, asked.resource)) return false;
  if (asked.kind === undefined) return selector === undefined && field === undefined;
  return interests.some(({ kind }) => kind === asked.kind);
};

/** A subject that several watch keeps what each of them needs. */
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

/** Owners, before and after: a child that changed hands is news to both. */
const ownersOf = (watch: Watch, { before, after }: Change): readonly string[] => {
  const names = [before, after].map((object) => (object === undefined ? undefined : watch.ownerName(object)));
  return [...new Set(names)].filter((name): name is string => name !== undefined && name !== "");
};

const changeIn = ({ before, after }: Change): "gone" | "new" | "changed" => {
  if (after === undefined) return "gone";
  return before === undefined ? "new" : "changed";
};

/**
 * The messages that a change of a subject's object is worth, none when it matters to nobody. Objects are trimmed ones.
 * `unsure`: an object without a before may be an old one, whose before nobody knows.
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
