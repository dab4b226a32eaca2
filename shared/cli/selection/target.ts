/** The object of a command, as people write it: `NAME`, `NS/NAME`, `KIND/NAME` or `KIND/NS/NAME`. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/errors.ts";
import type { Key } from "../../core/key.ts";
import { nearTo } from "../../core/near.ts";
import type { Metadata } from "../../core/object.ts";
import { notServed, Refused } from "../io/failure.ts";
import type { Session } from "../io/tools.ts";
import { everyKind, kindNamed, kindNames, kindsNear, usual } from "../kinds/all.ts";
import type { Kind } from "../kinds/kind.ts";

export type Target = { readonly kind: Kind; readonly key: Key };

/** The name that every command takes: kind, namespace and name. */
export const fullName = ({ kind, namespace, name }: Omit<Key, "cluster">): string =>
  `${kind.toLowerCase()}/${namespace}/${name}`;

/** The shortest unique name of a key: kinds other than SparkApplication are written. */
export const shortName = (key: Omit<Key, "cluster">): string =>
  key.kind === usual.resource.kind ? `${key.namespace}/${key.name}` : fullName(key);

const forms = "write NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME";

/** A hint with the kinds that resemble an unknown word. */
const kindHint = (word: string): string => {
  const near = kindsNear(word);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

const need = (text: string): Kind => {
  const kind = kindNamed(text);
  if (kind !== undefined) return kind;
  throw new Refused(`${text} is not a kind that Rekindle runs (${kindNames})${kindHint(text)}`);
};

/** Names of namespaces have no capitals. */
const isNamespace = (word: string): boolean => word === word.toLowerCase();

type Parts = {
  /** Undefined: the user wrote none, and all kinds are searched. */
  readonly kind: Kind | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
};

/** Splits a name. The first of two parts is a kind or a namespace; with a given namespace it is a kind. */
const partsOf = (text: string, namespace: string | undefined): Parts => {
  const parts = text.split("/");
  if (parts.length > 3 || parts.some((part) => part === "")) throw new Refused(`${JSON.stringify(text)}: ${forms}`);
  const [a = "", b = "", c = ""] = parts;
  if (parts.length === 1) return { kind: undefined, namespace, name: a };
  if (parts.length === 3) return { kind: need(a), namespace: b, name: c };
  const kind = kindNamed(a) ?? (namespace === undefined && isNamespace(a) ? undefined : need(a));
  return kind === undefined ? { kind, namespace: a, name: b } : { kind, namespace, name: b };
};

const keyOf = (kind: Kind, { namespace, name }: Parts, session: Pick<Session, "namespace">): Key => ({
  cluster: "default",
  kind: kind.resource.kind,
  namespace: namespace ?? session.namespace ?? "default",
  name,
});

/** The target of a name, found without a request; without a kind a SparkApplication. The cluster alias is not used. */
export const targetOf = (text: string, session: Pick<Session, "namespace">, namespace?: string): Target => {
  const parts = partsOf(text, namespace);
  const kind = parts.kind ?? usual;
  return { kind, key: keyOf(kind, parts, session) };
};

/** Whether the object exists; an error where the caller may not read it, or the kind is not installed. */
const isThere = async ({ transport }: Session, { kind, key }: Target): Promise<boolean | ApiError> => {
  const { namespace, name } = key;
  try {
    return (await openCluster(transport).get({ resource: kind.resource, namespace, name })).value !== undefined;
  } catch (cause) {
    if (cause instanceof ApiError && (cause.status === 403 || notServed(cause))) return cause;
    throw cause;
  }
};

/** Metadata of a kind's objects; none without the right to list them, or without their CRD. Namespace "": all. */
const namesOf = async ({ transport }: Session, kind: Kind, namespace: string): Promise<readonly Metadata[]> => {
  const found: Metadata[] = [];
  try {
    for await (const page of pages(transport, { resource: kind.resource, namespace, metadataOnly: true }))
      found.push(...page.items.map(({ metadata }) => metadata));
  } catch (cause) {
    if (!(cause instanceof ApiError) || (cause.status !== 403 && !notServed(cause))) throw cause;
  }
  return found;
};

const mostHints = 5;

/** Objects that the user may mean: similar names in the namespace, and the same name in others. */
const nearObjects = async (session: Session, { namespace, name }: Key, kinds: readonly Kind[]) => {
  const of = async (kind: Kind): Promise<readonly string[]> => {
    const own = await namesOf(session, kind, namespace);
    const elsewhere = (await namesOf(session, kind, "")).filter((one) => one.name === name);
    const near = nearTo(name, [...new Set(own.map((one) => one.name))]);
    const known = [...elsewhere, ...near.map((one) => ({ name: one, namespace }))];
    return known.map((one) =>
      fullName({ kind: kind.resource.kind, namespace: one.namespace ?? namespace, name: one.name }),
    );
  };
  return [...new Set((await Promise.all(kinds.map(of))).flat())].slice(0, mostHints);
};

const nothing = "there is no ";

/** True for the error of a missing object, whatever its hint. */
export const isMissing = (cause: unknown): boolean => cause instanceof Refused && cause.message.startsWith(nothing);

/** The error for a missing object, of one kind or of any. */
export const absent = (key: Key, kinds: readonly Kind[], near: readonly string[] = []): Refused => {
  const [only] = kinds;
  const what = kinds.length === 1 && only !== undefined ? only.resource.kind : "application of any kind";
  const hint = near.length === 0 ? "see them all with: rekindle list" : `did you mean ${near.join(" or ")}?`;
  return new Refused(`${nothing}${what} ${key.namespace}/${key.name}; ${hint}`);
};

/** The same error, with similar objects as its hint. */
export const missing = async (session: Session, key: Key, kinds: readonly Kind[] = everyKind): Promise<Refused> =>
  absent(key, kinds, await nearObjects(session, key, kinds));

/** The error for a name that several objects have. */
export const severally = (found: readonly Key[]): Refused =>
  new Refused(`several have this name: write ${found.map(fullName).join(" or ")}`);

/** Finds the object of this name among all kinds. SparkApplications come first. */
const searched = async (session: Session, parts: Parts): Promise<Target> => {
  const targets = everyKind.map((kind): Target => ({ kind, key: keyOf(kind, parts, session) }));
  const first = targets.filter(({ kind }) => kind === usual);
  for (const some of [first, targets.filter((one) => !first.includes(one))]) {
    const answers = await Promise.all(some.map((target) => isThere(session, target)));
    const found = some.filter((_, at) => answers[at] === true);
    const [one, another] = found;
    if (one !== undefined && another === undefined) return one;
    if (one !== undefined) throw severally(found.map(({ key }) => key));
    const refusals = answers.filter((answer) => answer instanceof ApiError);
    const [refusal] = refusals;
    if (some !== first && refusals.length === some.length && refusal !== undefined) throw refusal;
  }
  const key = keyOf(usual, parts, session);
  const refused = await missing(session, key);
  throw new Refused(`${refused.message}${parts.namespace === undefined ? "" : kindHint(parts.namespace)}`);
};

/** The object of a name; without a kind, all kinds are searched. */
export const findTarget = async (text: string, session: Session, namespace?: string): Promise<Target> => {
  const parts = partsOf(text, namespace);
  return parts.kind === undefined ? await searched(session, parts) : targetOf(text, session, namespace);
};
