/** The context of every verb: the store, the clock, and the parsed request. */
import { hash } from "node:crypto";
import type { Ask } from "./ask.ts";
import { type Clock, stamp } from "./clock.ts";
import type { Kind } from "./kinds.ts";
import type { Item } from "./metadata.ts";
import type { Share } from "./ownership.ts";
import { notFound } from "./refusal.ts";
import { keyOf, type Store } from "./store.ts";
import type { Admit } from "./webhooks.ts";

export type Server = {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes identities differ between two simulators. */
  readonly seed: string;
  /** Field ownership is written into metadata.managedFields. */
  readonly managedFields: boolean;
  /** Roles and bindings decide about requests. */
  readonly rbac: boolean;
  /** Calls admission webhooks; undefined: none is called. */
  readonly admit: Admit | undefined;
};

/** The target of a request. */
export type Target = {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly sub: string | undefined;
  /** The path behind the subresource, which a proxy passes on. */
  readonly rest: string;
};

/** The options that writes share. */
export type WriteOptions = {
  readonly dryRun: boolean;
  readonly manager: string;
  readonly strict: "Strict" | "Warn" | "Ignore";
  readonly subresource?: string | undefined;
  /** The request, which tells its user. */
  readonly ask?: Ask;
  /** The ownership after a server-side apply. */
  readonly shares?: readonly Share[];
};

export const timeOf = (server: Server): string => stamp(server.clock.now());

/** The UID of the object that the next write creates: the same history gives the same UID. */
export const nextUid = ({ seed, store }: Server): string => {
  const hex = hash("sha1", `${seed}/${store.revision() + 1}`);
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A suffix of five characters, as in generated names. */
export const suffixOf = (uid: string): string => {
  const digits = uid.replaceAll("-", "");
  return [0, 1, 2, 3, 4]
    .map((i) => alphabet[Number.parseInt(digits.slice(i * 4, i * 4 + 4), 16) % alphabet.length])
    .join("");
};

export const found = ({ store }: Server, { kind, namespace, name = "" }: Target): Item => {
  const item = store.get(kind.table, keyOf(namespace, name));
  if (item === undefined) throw notFound(kind, name);
  return item;
};
