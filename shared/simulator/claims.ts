/** PersistentVolumeClaims: bound to a volume, and kept while a pod on a node mounts them. */
import type { Task } from "./clock.ts";
import { fieldsAt, itemsAt, textAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import { about, keyOfItem, later, type Part, rewrite, subject } from "./part.ts";
import type { Server } from "./server.ts";
import { type Change, keyOf } from "./store.ts";

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
  if (type === "ADDED") later(server, delayMs, about("claims.bind", object));
  if (type !== "DELETED" && object.metadata.deletionTimestamp !== undefined)
    later(server, delayMs, about("claims.release", object));
};

const hearPod = (server: Server, { type, object }: Change): void => {
  if (type !== "DELETED") return;
  for (const name of claimsOf(object)) {
    const claim = server.store.get(claimTable, keyOf(object.metadata.namespace, name));
    if (claim?.metadata.deletionTimestamp !== undefined) later(server, delayMs, about("claims.release", claim));
  }
};

export const claims = (server: Server): Part => ({
  onChange: (change) => {
    if (change.table === claimTable) hearClaim(server, change);
    if (change.table === "pods") hearPod(server, change);
  },
  tasks: { "claims.bind": (task) => bind(server, task), "claims.release": (task) => release(server, task) },
});
