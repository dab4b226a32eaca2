/** The admission plugin that guards owners: blockOwnerDeletion takes the right to set the owner's finalizers. */
import type { Ask } from "./ask.ts";
import { kindNamed } from "./crds.ts";
import { at, itemsAt, parsed, textAt } from "./json.ts";
import type { User } from "./people.ts";
import { forbidden } from "./refusal.ts";
import { decide, type Wish } from "./rights.ts";
import type { Server } from "./server.ts";

/** The reason why a user may not make an owner wait; undefined: it may. */
const whyNot = ({ store }: Server, user: User, owner: unknown, within: string): string | undefined => {
  const version = textAt(owner, "apiVersion") ?? "";
  const name = textAt(owner, "kind") ?? "";
  const kind = kindNamed(store, version, name);
  if (kind === undefined)
    return `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${version} Kind ${name}: no matches for kind "${name}" in version "${version}"`;
  const { group, plural, namespaced } = kind;
  const wish = { verb: "update", group, resource: plural, sub: "finalizers", name: textAt(owner, "name") ?? "" };
  const { allowed, reason } = decide(store, user, { ...wish, namespace: namespaced ? within : "" });
  return allowed
    ? undefined
    : `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, <nil>`;
};

/** Throws when a new object blocks the deletion of an owner whose finalizers its creator may not set. */
export const guardOwners = (server: Server, user: User, ask: Ask, wish: Wish): void => {
  if (ask.method !== "POST" || wish.sub !== "" || wish.path !== undefined) return;
  const body = parsed(ask.body ?? "");
  const { group, resource } = wish;
  for (const owner of itemsAt(body, "metadata", "ownerReferences")) {
    if (at(owner, "blockOwnerDeletion") !== true) continue;
    const why = whyNot(server, user, owner, wish.namespace);
    if (why !== undefined)
      throw forbidden({ group, plural: resource, kind: "" }, textAt(body, "metadata", "name") ?? "", why);
  }
};
