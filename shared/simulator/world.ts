/** The initial objects of every cluster: namespaces, their service accounts, and the given CRDs. */

import { crdTable } from "./crds.ts";
import { create } from "./create.ts";
import { builtInOf, type Kind } from "./kinds.ts";
import type { Server, Target, WriteOptions } from "./server.ts";
import type { Change } from "./store.ts";

const own: WriteOptions = { dryRun: false, manager: "rekindle-simulator", strict: "Ignore" };

const targetIn = (kind: Kind, namespace?: string): Target => ({
  kind,
  namespace,
  name: undefined,
  sub: undefined,
  rest: "",
});

/** Creates an object of a built-in kind as the cluster itself does. */
export const make = (server: Server, table: string, namespace: string | undefined, body: unknown): void => {
  const kind = builtInOf(table);
  if (kind !== undefined) create(server, targetIn(kind, namespace), body, own);
};

const certificate = "-----BEGIN CERTIFICATE-----\nc2ltdWxhdGVk\n-----END CERTIFICATE-----\n";

/** Creates the default service account and the cluster's certificate in a new namespace. */
export const furnishNamespace = (server: Server, { type, table, object }: Change): void => {
  if (type !== "ADDED" || table !== "namespaces") return;
  const { name } = object.metadata;
  make(server, "serviceaccounts", name, { metadata: { name: "default" } });
  make(server, "configmaps", name, { metadata: { name: "kube-root-ca.crt" }, data: { "ca.crt": certificate } });
};

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"] as const;

type Furniture = readonly (readonly [table: string, namespace: string | undefined, body: unknown])[];

export const furnish = (server: Server, crds: readonly unknown[], objects: Furniture): void => {
  for (const name of namespaces) make(server, "namespaces", undefined, { metadata: { name } });
  for (const crd of crds) make(server, crdTable, undefined, crd);
  for (const [table, namespace, body] of objects) make(server, table, namespace, body);
};
