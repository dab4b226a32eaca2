/** Kinds as the page names them, in its lists, its addresses and the commands that it shows. */
import { keyKindOf } from "../core/object.ts";
import type { DeclaredKind } from "../kube/declared-kind.ts";
import { kinds } from "../registry/kinds.ts";
import type { Action, Row } from "./wire.ts";

const byName: ReadonlyMap<string, DeclaredKind> = new Map(
  kinds.map((declared) => [keyKindOf(declared.resource).toLowerCase(), declared]),
);

const declaredAs = (kind: string): DeclaredKind | undefined => byName.get(kind.toLowerCase());

export const kindText = (kind: string): string => declaredAs(kind)?.title ?? kind;

/** KIND/NAMESPACE/NAME with its kind as the API writes it: commands print kinds in lower case. */
export const canonical = (application: string): string => {
  const [given = "", ...rest] = application.split("/");
  const declared = declaredAs(given);
  return [declared === undefined ? given : keyKindOf(declared.resource), ...rest].join("/");
};

/** Schedules and cron jobs have a screen of their own. */
export const isSchedule = ({ kind }: Row): boolean => declaredAs(kind)?.isSchedule === true;

/** The name of an object in a command: of the registry's first kind without the kind. */
export const nameInCommands = ({ kind, namespace, name }: Pick<Row, "kind" | "namespace" | "name">): string =>
  declaredAs(kind) === kinds[0] ? `${namespace}/${name}` : `${kind}/${namespace}/${name}`;

/** The command that does the same as an action on KIND/NAMESPACE/NAME or KIND/NAME; "" where none does. */
export const commandFor = (action: Action, path: string): string => {
  const [kind = "", namespace = "", name = ""] = path.split("/");
  const declared = declaredAs(kind);
  const word = kind.toLowerCase();
  if (declared?.scope === "Cluster") return `rekindle ${word} operate -a ${action} ${namespace}`;
  if (action === "reconcile") return "";
  if (action === "suspend" && declared?.commands !== undefined)
    return `rekindle ${word} suspend -n ${namespace} ${name}`;
  return `rekindle ${action} ${nameInCommands({ kind, namespace, name })}`;
};
