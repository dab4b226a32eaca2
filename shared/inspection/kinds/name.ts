/**
 * The name of an object as people write it and as tools print it: NAME, NAMESPACE/NAME, KIND/NAME or
 * KIND/NAMESPACE/NAME, where KIND may have its group, as `kubectl get -o name` writes it, and any capitals.
 */
import { keyKindOf, type Resource } from "../../core/object.ts";
import { Refused } from "../io/refusal.ts";

const forms = "write NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME";

/** True where a word names a resource: kind, plural or short name, with or without `.GROUP` or `.VERSION.GROUP`. */
export const isNameOf = (resource: Resource, shortNames: readonly string[], word: string): boolean => {
  const { kind, plural, group, version } = resource;
  if (word.toLowerCase() === keyKindOf(resource).toLowerCase()) return true;
  const [bare = "", ...rest] = word.toLowerCase().split(".");
  const suffix = rest.join(".");
  const isBare = [kind.toLowerCase(), plural, ...shortNames].includes(bare);
  return isBare && ["", group, `${version}.${group}`].includes(suffix);
};

type Parts = {
  /** The first part, where it is a kind or can be nothing else; undefined: none is written. */
  readonly kind: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
};

/** Names of namespaces have neither capitals nor dots. */
const isNamespace = (word: string): boolean => word === word.toLowerCase() && !/\w\.\w/.test(word);

/** Splits a name. The first of two parts is a kind or a namespace; with a given namespace it is a kind. */
export const partsOf = (text: string, isKind: (word: string) => boolean, namespace: string | undefined): Parts => {
  const parts = text.split("/");
  if (parts.length > 3 || parts.some((part) => part === "")) throw new Refused(`${JSON.stringify(text)}: ${forms}`);
  const [a = "", b = "", c = ""] = parts;
  if (parts.length === 1) return { kind: undefined, namespace, name: a };
  if (parts.length === 3) {
    if (namespace !== undefined && namespace !== b)
      throw new Refused(`${text} and -n ${namespace} name different namespaces: keep one of them`);
    return { kind: a, namespace: b, name: c };
  }
  const hasKind = isKind(a) || namespace !== undefined || !isNamespace(a);
  return hasKind ? { kind: a, namespace, name: b } : { kind: undefined, namespace: a, name: b };
};

/** The namespace and name of an object of a known kind; another kind is refused. */
export const placeNamed = (
  text: string,
  resource: Resource,
  shortNames: readonly string[],
  namespace: string | undefined,
): Omit<Parts, "kind"> => {
  const isKind = (word: string): boolean => isNameOf(resource, shortNames, word);
  const { kind, ...place } = partsOf(text, isKind, namespace);
  if (kind !== undefined && !isKind(kind)) throw new Refused(`${text}: name a ${resource.kind}`);
  return place;
};
