/** Server-side apply: a manager says what it wants, and owns it. */
import { create } from "./create.ts";
import { isFields } from "./json.ts";
import type { Item } from "./metadata.ts";
import { mergePatch } from "./patch.ts";
import { badRequest } from "./refusal.ts";
import type { Server, Target, WriteOptions } from "./server.ts";
import { keyOf } from "./store.ts";
import { strategicMerge } from "./strategic.ts";
import { update } from "./update.ts";

export type Applied = { readonly item: Item; readonly created: boolean; readonly warnings: readonly string[] };

export const apply = (
  server: Server,
  target: Target,
  body: unknown,
  options: WriteOptions & { readonly force: boolean },
): Applied => {
  if (!isFields(body)) throw badRequest("error decoding YAML: not an object");
  const { kind, namespace, name = "", sub } = target;
  const current = server.store.get(kind.table, keyOf(namespace, name));
  if (current === undefined && sub === undefined) return { ...create(server, target, body, options), created: true };
  const merge = kind.custom === undefined ? strategicMerge : mergePatch;
  return { ...update(server, target, (item) => merge(item, body), options), created: false };
};
