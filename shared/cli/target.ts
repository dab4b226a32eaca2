/** Which object a command is about, as people write it: `NAME`, `NS/NAME`, `KIND/NAME` or `KIND/NS/NAME`. */
import type { Key } from "../core/key.ts";
import { Refused } from "./failure.ts";
import type { Kind } from "./kinds/kind.ts";
import { sparkApplication } from "./kinds/spark.ts";
import type { Session } from "./tools.ts";

/** The kinds that the command line knows. */
export const kinds: readonly Kind[] = [sparkApplication];

export type Target = { readonly kind: Kind; readonly key: Key };

/** A kind by its name, plural, or a beginning that is long enough, such as `sparkapp`. */
const kindNamed = (text: string): Kind | undefined => {
  const word = text.toLowerCase();
  return kinds.find(({ resource }) => {
    const names = [resource.kind.toLowerCase(), resource.plural];
    return names.some((name) => name === word || (word.length >= 8 && name.startsWith(word)));
  });
};

const forms = "write NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME";

const need = (text: string): Kind => {
  const kind = kindNamed(text);
  if (kind !== undefined) return kind;
  throw new Refused(`${text} is no kind that Rekindle runs (${kinds.map(({ resource }) => resource.kind).join(", ")})`);
};

const first = (): Kind => kinds[0] ?? sparkApplication;

/** Of two parts the first may be a kind or a namespace; a namespace that was given settles it. */
const partsOf = (
  text: string,
  namespace: string | undefined,
): { kind: Kind; namespace: string | undefined; name: string } => {
  const parts = text.split("/");
  if (parts.length > 3 || parts.some((part) => part === "")) throw new Refused(`${JSON.stringify(text)}: ${forms}`);
  const [a = "", b = "", c = ""] = parts;
  if (parts.length === 1) return { kind: first(), namespace, name: a };
  if (parts.length === 3) return { kind: need(a), namespace: b, name: c };
  const kind = kindNamed(a) ?? (namespace === undefined ? undefined : need(a));
  return kind === undefined ? { kind: first(), namespace: a, name: b } : { kind, namespace, name: b };
};

/** The cluster's alias plays no part in what the command line reads. */
export const targetOf = (text: string, session: Pick<Session, "namespace">, namespace?: string): Target => {
  const parts = partsOf(text, namespace);
  const { kind, name } = parts;
  const key = {
    cluster: "default",
    kind: kind.resource.kind,
    namespace: parts.namespace ?? session.namespace ?? "default",
    name,
  };
  return { kind, key };
};
