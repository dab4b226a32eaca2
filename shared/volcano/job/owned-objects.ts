/** The objects of a job beside its pods: its group, its plugins' objects, its claims. They end with the job. */

import { all, get, type Reads } from "../../core/decision.ts";
import { digestOf, fieldsOf, same } from "../../core/json.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { isEnding, nodeNameOf, ownedBy } from "../../kube/pods.ts";
import { claims, priorityClasses, secrets } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { groupStatusPatch } from "../gang/plan.ts";
import { objectsOf } from "../plugins/all.ts";
import type { Kept } from "../plugins/plugin.ts";
import { groupPatch, type Priorities, podGroup } from "../podgroup/group.ts";
import { ownerReference } from "../pods/names.ts";
import { podGroups } from "../schema/resource.ts";
import { type JobSpec, tasksOf } from "../schema/spec.ts";
import { got, isHeld, type JobContext, makingOf, ownerOf, planIn, plannedNodes, refOf, removal } from "./context.ts";
import { isFinished, moveFor } from "./machine.ts";
import { holderOf, type Memory } from "./memory.ts";
import { hasFinished, hasSucceeded, isOver } from "./pods.ts";

/** Claims are created with the job and stay as long as it exists. */
const claimsOf = (scene: JobContext): readonly Kept[] =>
  (scene.spec.volumes ?? []).flatMap(({ volumeClaim: spec, volumeClaimName: name = "" }) => {
    if (spec === undefined) return [];
    const owner = ownerOf(scene);
    const metadata = { name, namespace: owner.namespace, ownerReferences: [ownerReference(owner)] };
    return [{ resource: claims, object: { apiVersion: "v1", kind: claims.kind, metadata, spec } }];
  });

const keptOf = (scene: JobContext): readonly Kept[] => [
  ...claimsOf(scene),
  ...objectsOf({ owner: ownerOf(scene), tasks: tasksOf(scene.spec) }, scene.spec.plugins),
];

/** Existing claims that the job only names. */
const namedOf = ({ spec }: JobContext): readonly string[] =>
  (spec.volumes ?? []).flatMap(({ volumeClaim, volumeClaimName = "" }) =>
    volumeClaim === undefined && volumeClaimName !== "" ? [volumeClaimName] : [],
  );

const creation = (scene: JobContext, { resource, object, fresh }: Kept): Effect => ({
  do: "create",
  object,
  resource,
  owner: ownerOf(scene).uid,
  ...(fresh === undefined ? {} : { fresh }),
});

/** Returns the data that the object lacks or has differently. A Secret keeps its keys as they were created. */
const dataPatch = (there: Stored, wanted: Obj): Json | undefined => {
  if (wanted.kind === secrets.kind) return undefined;
  const data = fieldsOf(there["data"]);
  const wrong = Object.entries(fieldsOf(wanted["data"])).filter(([name, text]) => !same(data[name], text));
  return wrong.length === 0 ? undefined : { data: Object.fromEntries(wrong) };
};

const mending = (scene: JobContext, kept: Kept, there: Stored | undefined): readonly Effect[] => {
  if (there === undefined || !ownedBy(there, ownerOf(scene).uid)) return [creation(scene, kept)];
  const patch = dataPatch(there, kept.object);
  if (patch === undefined) return [];
  const { uid, resourceVersion } = there.metadata;
  return [{ do: "patch", ref: refOf(kept.resource, there), uid, resourceVersion, patch }];
};

type OwnedObjectsPlan = {
  readonly effects: readonly Effect[];
  readonly kept: Memory["kept"];
  /** A message about a missing claim that the job only names. */
  readonly lacks?: string;
};

type OwnedObject = { readonly one: Kept; readonly there: Stored | undefined };

/** Reads these objects. */
function* readKept({ key }: JobContext, wanted: readonly Kept[]): Reads<readonly OwnedObject[]> {
  const objects = yield* all(wanted.map(({ resource, object }) => get(got(key, resource, object.metadata.name))));
  return wanted.map((one, index) => ({ one, there: objects[index] }));
}

/** Creates and repairs the shared objects; once complete, they are next read when the job or its version changes. */
function* upheld(scene: JobContext): Reads<OwnedObjectsPlan> {
  const wanted = keptOf(scene);
  const named = namedOf(scene);
  const digest = digestOf([wanted.map(({ object }) => object), named]);
  const { kept } = scene.memory;
  if (kept === digest) return { effects: [], kept };
  if (scene.view.memory === undefined && named.length === 0)
    return { effects: wanted.map((one) => creation(scene, one)), kept: wanted.length === 0 ? digest : undefined };
  const [standing, claimed] = yield* all([
    readKept(scene, wanted),
    all(named.map((name) => get(got(scene.key, claims, name)))),
  ]);
  const effects = standing.flatMap(({ one, there }) => mending(scene, one, there));
  const lacking = named.find((_, index) => claimed[index] === undefined);
  const done = effects.length === 0 && lacking === undefined;
  const lacks =
    lacking === undefined
      ? {}
      : { lacks: `pvc ${lacking} is not found, the job will be in the Pending state until the PVC is created` };
  return { effects, kept: done ? digest : undefined, ...lacks };
}

const isClaim = ({ resource }: Kept): boolean => resource === claims;

/** Deletes the shared objects, but no claims, when the job is finished. */
function* dissolved(scene: JobContext): Reads<OwnedObjectsPlan> {
  const { kept } = scene.memory;
  if (kept === "" || !isFinished(scene.memory.phase)) return { effects: [], kept };
  const wanted = keptOf(scene).filter((one) => !isClaim(one));
  const standing = yield* readKept(scene, wanted);
  const left = standing.flatMap(({ one, there }) =>
    there === undefined || !ownedBy(there, ownerOf(scene).uid) ? [] : [{ one, there }],
  );
  const effects = left.filter(({ there }) => !isEnding(there)).map(({ one, there }) => removal(one.resource, there));
  return { effects, kept: left.length === 0 ? "" : kept };
}

const goesOn = ({ memory }: JobContext): boolean => moveFor(memory.phase, "SyncJob").pods === "sync";

/** Returns the effects on the shared objects, and whether they were found complete. */
export const planOwnedObjects = (scene: JobContext): Reads<OwnedObjectsPlan> =>
  goesOn(scene) ? upheld(scene) : dissolved(scene);

/** True if no pod of the group's plan lacks a node: each has one, had one, or is done. */
const isWhole = (scene: JobContext): boolean => {
  const plan = planIn(scene);
  const nodes = plannedNodes(scene);
  const has = holderOf(scene.memory.done);
  const settled = new Set(
    scene.members
      .filter((member) => !isOver(member, scene.memory))
      .filter((member) => hasFinished(member) || nodeNameOf(member.pod) !== undefined)
      .map(({ task, index }) => `${task}/${index}`),
  );
  return Object.keys(plan?.places ?? {}).every((task) =>
    nodes(task).every((_, index) => settled.has(`${task}/${index}`) || has({ task, index })),
  );
};

/** Returns the effects on the group. There is one group at a time: a retired group is deleted first. */
export const groupEffects = (scene: JobContext): readonly Effect[] => {
  const { group, memory, priorities } = scene;
  const { uid } = ownerOf(scene);
  if (group === undefined)
    return goesOn(scene) && !isHeld(scene)
      ? [{ do: "create", object: podGroup(makingOf(scene), priorities), resource: podGroups, owner: uid }]
      : [];
  if (isEnding(group) || !ownedBy(group, uid)) return [];
  if (group.metadata.uid === memory.retired || !goesOn(scene)) return [removal(podGroups, group)];
  const asked = groupPatch(group, podGroup(makingOf(scene), priorities));
  const stands = groupStatusPatch(
    group,
    scene.members
      .filter((member) => member.phase !== "Succeeded" || hasSucceeded(member, memory))
      .map(({ pod }) => pod),
    isWhole(scene),
  );
  if (asked === undefined && stands === undefined) return [];
  const patch = { ...asked, ...stands };
  const { resourceVersion } = group.metadata;
  return [{ do: "patch", ref: refOf(podGroups, group), uid: group.metadata.uid, resourceVersion, patch }];
};

/** Returns the claims as upstream notes them in `status.controlledResources`. */
export const claimNotes = (scene: JobContext): Readonly<Record<string, string>> =>
  Object.fromEntries(claimsOf(scene).map(({ object }) => [`volume-pvc-${object.metadata.name}`, object.metadata.name]));

const namesOf = (spec: JobSpec): readonly string[] => {
  const own = tasksOf(spec).map(({ template }) => template?.spec?.["priorityClassName"]);
  const named = [...own, spec.priorityClassName].filter((name) => typeof name === "string" && name !== "");
  return [...new Set(named.map(String))];
};

/** True if a task names a priority class. Otherwise there is no order among tasks, and nothing is read. */
const isOrdered = (spec: JobSpec): boolean =>
  tasksOf(spec).some(({ template }) => typeof template?.spec?.["priorityClassName"] === "string");

/** Values of the priority classes that a job's pods name: its group's needs count the highest first. */
export function* readPriorities(spec: JobSpec): Reads<Priorities> {
  const names = isOrdered(spec) ? namesOf(spec) : [];
  const classes = yield* all(names.map((name) => get({ do: "get", ref: { resource: priorityClasses, name } })));
  return new Map(
    names.flatMap((name, index): readonly [string, number][] => {
      const value = classes[index]?.["value"];
      return typeof value === "number" ? [[name, value]] : [];
    }),
  );
}
