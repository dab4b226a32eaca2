/** Which object a command is about, as people write it: `NAME`, `NS/NAME`, `KIND/NAME` or `KIND/NS/NAME`. */
import type { Key } from "../core/key.ts";
import { Refused } from "./failure.ts";
import { kindNamed, kindNames, usual } from "./kinds/all.ts";
import type { Kind } from "./kinds/kind.ts";
import type { Session } from "./tools.ts";

export type Target = { readonly kind: Kind; readonly key: Key };

const forms = "write NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME";

const need = (text: string): Kind => {
  const kind = kindNamed(text);
  if (kind !== undefined) return kind;
  throw new Refused(`${text} is no kind that Rekindle runs (${kindNames})`);
};

/** Of two parts the first may be a kind or a namespace; a namespace that was given settles it. */
const partsOf = (
  text: string,
  namespace: string | undefined,
): { kind: Kind; namespace: string | undefined; name: string } => {
  const parts = text.split("/");
  if (parts.length > 3 || parts.some((part) => part === "")) throw new Refused(`${JSON.stringify(text)}: ${forms}`);
  const [a = "", b = "", c = ""] = parts;
  if (parts.length === 1) return { kind: usual, namespace, name: a };
  if (parts.length === 3) return { kind: need(a), namespace: b, name: c };
  const kind = kindNamed(a) ?? (namespace === undefined ? undefined : need(a));
  return kind === undefined ? { kind: usual, namespace: a, name: b } : { kind, namespace, name: b };
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
