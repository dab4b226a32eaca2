/** Users: the token of a service account stands for that account; every other caller is the administrator. */
import type { Ask } from "./ask.ts";
import { numberAt, parsed, textAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import { Refusal } from "./refusal.ts";
import type { Server } from "./server.ts";
import { keyOf } from "./store.ts";

export type User = {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
};

export const administrator: User = { username: "simulator", groups: ["system:masters", "system:authenticated"] };

const mark = "simulated.";

/** The token in the simulator's own kubeconfig. */
export const ownToken = "simulator";

/** A token for a service account until an epoch second. */
export const tokenFor = ({ metadata: { namespace, name, uid } }: Item, until: number): string =>
  `${mark}${Buffer.from(JSON.stringify({ namespace, name, uid, until })).toString("base64url")}`;

export const accountUser = (namespace: string, name: string, uid?: string): User => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  ...(uid !== undefined && { uid }),
  groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
});

/** The user of a token; undefined for an invalid or expired token. */
export const bearerOf = ({ store, clock }: Server, token: string): User | undefined => {
  if (token === ownToken) return administrator;
  if (!token.startsWith(mark)) return undefined;
  const claims = parsed(Buffer.from(token.slice(mark.length), "base64url").toString("utf8"));
  const namespace = textAt(claims, "namespace") ?? "";
  const name = textAt(claims, "name") ?? "";
  const account = store.get("serviceaccounts", keyOf(namespace, name));
  const over = (numberAt(claims, "until") ?? 0) * 1000 <= clock.now();
  if (over || account === undefined || account.metadata.uid !== textAt(claims, "uid")) return undefined;
  return accountUser(namespace, name, account.metadata.uid);
};

const isAccount = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The user whom an administrator impersonates (`kubectl --as`). */
const impersonated = (headers: Ask["headers"]): User | undefined => {
  const username = headers["impersonate-user"];
  if (username === undefined) return undefined;
  const [, namespace, name] = isAccount.exec(username) ?? [];
  if (namespace !== undefined && name !== undefined) return accountUser(namespace, name);
  const groups = (headers["impersonate-group"] ?? "").split(",").map((group) => group.trim());
  return { username, groups: [...groups.filter((group) => group !== ""), "system:authenticated"] };
};

/** The user of a request, or the one that it impersonates. Throws for an invalid token where rights are kept. */
export const userOf = (server: Server, ask: Ask): User => {
  const user = ownUserOf(server, ask);
  return user.groups.includes("system:masters") ? (impersonated(ask.headers) ?? user) : user;
};

const ownUserOf = (server: Server, { headers }: Ask): User => {
  const [, token] = /^Bearer\s+(.+)$/i.exec(headers["authorization"] ?? "") ?? [];
  if (token === undefined) return administrator;
  const user = bearerOf(server, token);
  if (user === undefined && !server.rbac) return administrator;
  if (user === undefined) throw new Refusal(401, "Unauthorized", "Unauthorized");
  return user;
};
