/** Volumes: PersistentVolumeClaims are bound, and kept while a pod on a node mounts them; ConfigMaps are files of a pod. */

import type { Task } from "../storage/clock.ts";
import { fieldsAt, itemsAt, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { type Change, keyOf, type Store } from "../storage/store.ts";
import { about, keyOfItem, type Part, rewrite, runAfter, subject } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";

const delayMs = 100;

const claimTable = "persistentvolumeclaims";
const protection = "kubernetes.io/pvc-protection";

/** Names of the claims that a pod mounts. */
const claimsOf = (pod: Item): readonly string[] =>
  itemsAt(pod, "spec", "volumes").flatMap((volume) => textAt(volume, "persistentVolumeClaim", "claimName") ?? []);

const isUsed = ({ store }: Server, { metadata }: Item): boolean =>
  store
    .list("pods")
    .some(
      (pod) =>
        pod.metadata.namespace === metadata.namespace &&
        (textAt(pod, "spec", "nodeName") ?? "") !== "" &&
        claimsOf(pod).includes(metadata.name),
    );

/** Removes a claim that is being deleted when no pod on a node mounts it. */
const release = (server: Server, task: Task): void => {
  const claim = subject(server, task, claimTable);
  if (claim?.metadata.deletionTimestamp === undefined || isUsed(server, claim)) return;
  const left = (claim.metadata.finalizers ?? []).filter((finalizer) => finalizer !== protection);
  if (left.length === 0) server.store.remove(claimTable, keyOfItem(claim));
  else rewrite(server, claimTable, claim, { ...claim, metadata: { ...claim.metadata, finalizers: left } });
};

const bind = (server: Server, task: Task): void => {
  const claim = subject(server, task, claimTable);
  if (claim === undefined) return;
  const spec = { ...fieldsAt(claim, "spec"), volumeName: `pvc-${claim.metadata.uid}` };
  const capacity = fieldsAt(spec, "resources", "requests");
  const status = { phase: "Bound", accessModes: fieldsAt(claim, "spec")["accessModes"], capacity };
  rewrite(server, claimTable, claim, { ...claim, spec, status });
};

const hearClaim = (server: Server, { type, object }: Change): void => {
  if (type === "ADDED") runAfter(server, delayMs, about("claims.bind", object));
  if (type !== "DELETED" && object.metadata.deletionTimestamp !== undefined)
    runAfter(server, delayMs, about("claims.release", object));
};

const hearPod = (server: Server, { type, object }: Change): void => {
  if (type !== "DELETED") return;
  for (const name of claimsOf(object)) {
    const claim = server.store.get(claimTable, keyOf(object.metadata.namespace, name));
    if (claim?.metadata.deletionTimestamp !== undefined) runAfter(server, delayMs, about("claims.release", claim));
  }
};

/** PersistentVolumeClaims: bound to a volume, and kept while a pod on a node mounts them. */
export const claims = (server: Server): Part => ({
  onChange: (change) => {
    if (change.table === claimTable) hearClaim(server, change);
    if (change.table === "pods") hearPod(server, change);
  },
  tasks: { "claims.bind": (task) => bind(server, task), "claims.release": (task) => release(server, task) },
});

type Mount = { readonly volume: unknown; readonly rest: string };

const volumeNamed = (pod: Item, name: string): unknown =>
  itemsAt(pod, "spec", "volumes").find((each) => textAt(each, "name") === name);

const mountFor = (pod: Item, path: string): Mount | undefined => {
  const mounts = itemsAt(pod, "spec", "containers").flatMap((each) => itemsAt(each, "volumeMounts"));
  const mount = mounts.find((each) => path.startsWith(`${textAt(each, "mountPath")}/`));
  const folder = textAt(mount, "mountPath") ?? "";
  return mount === undefined
    ? undefined
    : { volume: volumeNamed(pod, textAt(mount, "name") ?? ""), rest: path.slice(folder.length + 1) };
};

const keyFor = (volume: unknown, rest: string): string =>
  textAt(
    itemsAt(volume, "configMap", "items").find((each) => textAt(each, "path") === rest),
    "key",
  ) ?? rest;

/** The text of a mounted file of a ConfigMap; undefined where there is none. */
export const fileIn = (store: Store, pod: Item, path: string): string | undefined => {
  const mount = mountFor(pod, path);
  const name = textAt(mount?.volume, "configMap", "name");
  if (mount === undefined || name === undefined) return undefined;
  const map = store.get("configmaps", keyOf(pod.metadata.namespace, name));
  return textAt(map, "data", keyFor(mount.volume, mount.rest));
};

const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

const unescaped = (text: string): string =>
  text.replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_all, code: string) =>
    code.length === 5 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
  );

const line = /^\s*((?:\\.|[^\\=:\s])+)\s*[=:\s]\s*(.*)$/;

/** Java's properties as a record. */
export const propertiesOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(/\r?\n/)
      .filter((each) => !/^\s*([#!]|$)/.test(each))
      .flatMap((each) => {
        const [, key, value] = line.exec(each) ?? [];
        return key === undefined ? [] : [[unescaped(key), unescaped(value ?? "")]];
      }),
  );
