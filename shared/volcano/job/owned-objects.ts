/** The objects of a job beside its pods: its group, its plugins' objects, its claims. They end with the job. */

import { all, get, type Reads } from "../../core/decision.ts";
import { digestOf, fieldsOf, same } from "../../core/json.ts";
import { type Obj, refTo, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { tasksIn } from "../../kube/gang-plan.ts";
import { isEnding, nodeNameOf, ownedBy } from "../../kube/pods.ts";
import { claims, priorityClasses, secrets } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { groupStatusPatch } from "../gang/plan.ts";
import { objectsOf } from "../plugins/all.ts";
import type { PluginObject } from "../plugins/plugin.ts";
import { groupPatch, type Priorities, podGroup } from "../podgroup/group.ts";
import { ownerReference } from "../pods/names.ts";
import { podGroups } from "../schema/resource.ts";
import { type JobSpec, tasksOf } from "../schema/spec.ts";
import { got, isHeld, type JobContext, ownerOf, planIn, plannedNodes, podInputOf, removal } from "./context.ts";
import { isFinished, moveFor } from "./machine.ts";
import { holderOf, type Memory } from "./memory.ts";
import { hasFinished, hasSucceeded, isOver } from "./pods.ts";
import { roomChange } from "./queue-room.ts";

/** Claims are created with the job and stay as long as it exists. */
const claimsOf = (context: JobContext): readonly PluginObject[] =>
  (context.spec.volumes ?? []).flatMap(({ volumeClaim: spec, volumeClaimName: name = "" }) => {
    if (spec === undefined) return [];
    const owner = ownerOf(context);
    const metadata = { name, namespace: owner.namespace, ownerReferences: [ownerReference(owner)] };
    return [{ resource: claims, object: { apiVersion: "v1", kind: claims.kind, metadata, spec } }];
  });

const keptOf = (context: JobContext): readonly PluginObject[] => [
  ...claimsOf(context),
  ...objectsOf({ owner: ownerOf(context), tasks: tasksOf(context.spec) }, context.spec.plugins),
];

/** Existing claims that the job only names. */
const namedOf = ({ spec }: JobContext): readonly string[] =>
  (spec.volumes ?? []).flatMap(({ volumeClaim, volumeClaimName = "" }) =>
    volumeClaim === undefined && volumeClaimName !== "" ? [volumeClaimName] : [],
  );

const creation = (context: JobContext, { resource, object, fresh }: PluginObject): Effect => ({
  do: "create",
  object,
  resource,
  owner: ownerOf(context).uid,
  ...(fresh === undefined ? {} : { fresh }),
});

/** Returns the data that the object lacks or has differently. A Secret keeps its keys as they were created. */
const dataPatch = (there: Stored, wanted: Obj): Json | undefined => {
  if (wanted.kind === secrets.kind) return undefined;
  const data = fieldsOf(there["data"]);
  const wrong = Object.entries(fieldsOf(wanted["data"])).filter(([name, text]) => !same(data[name], text));
  return wrong.length === 0 ? undefined : { data: Object.fromEntries(wrong) };
};

const mending = (context: JobContext, kept: PluginObject, there: Stored | undefined): readonly Effect[] => {
  if (there === undefined || !ownedBy(there, ownerOf(context).uid)) return [creation(context, kept)];
  const patch = dataPatch(there, kept.object);
  if (patch === undefined) return [];
  const { uid, resourceVersion } = there.metadata;
  return [{ do: "patch", ref: refTo(kept.resource, there), uid, resourceVersion, patch }];
};

type OwnedObjectsPlan = {
  readonly effects: readonly Effect[];
  readonly kept: Memory["kept"];
  /** A message about a missing claim that the job only names. */
  readonly lacks?: string;
};

type OwnedObject = { readonly one: PluginObject; readonly there: Stored | undefined };

/** Reads these objects. */
function* readKept({ key }: JobContext, wanted: readonly PluginObject[]): Reads<readonly OwnedObject[]> {
  const objects = yield* all(wanted.map(({ resource, object }) => get(got(key, resource, object.metadata.name))));
  return wanted.map((one, index) => ({ one, there: objects[index] }));
}

/** Creates and repairs the shared objects; once complete, they are next read when the job or its version changes. */
function* upheld(context: JobContext): Reads<OwnedObjectsPlan> {
  const wanted = keptOf(context);
  const named = namedOf(context);
  const digest = digestOf([wanted.map(({ object }) => object), named]);
  const { kept } = context.memory;
  if (kept === digest) return { effects: [], kept };
  if (context.view.memory === undefined && named.length === 0)
    return { effects: wanted.map((one) => creation(context, one)), kept: wanted.length === 0 ? digest : undefined };
  const [standing, claimed] = yield* all([
    readKept(context, wanted),
    all(named.map((name) => get(got(context.key, claims, name)))),
  ]);
  const effects = standing.flatMap(({ one, there }) => mending(context, one, there));
  const lacking = named.find((_, index) => claimed[index] === undefined);
  const done = effects.length === 0 && lacking === undefined;
  const lacks =
    lacking === undefined
      ? {}
      : { lacks: `pvc ${lacking} is not found, the job will be in the Pending state until the PVC is created` };
  return { effects, kept: done ? digest : undefined, ...lacks };
}

const isClaim = ({ resource }: PluginObject): boolean => resource === claims;

/** Deletes the shared objects, but no claims, when the job is finished. */
function* dissolved(context: JobContext): Reads<OwnedObjectsPlan> {
  const { kept } = context.memory;
  if (kept === "" || !isFinished(context.memory.phase)) return { effects: [], kept };
  const wanted = keptOf(context).filter((one) => !isClaim(one));
  const standing = yield* readKept(context, wanted);
  const left = standing.flatMap(({ one, there }) =>
    there === undefined || !ownedBy(there, ownerOf(context).uid) ? [] : [{ one, there }],
  );
  const effects = left.filter(({ there }) => !isEnding(there)).map(({ one, there }) => removal(one.resource, there));
  return { effects, kept: left.length === 0 ? "" : kept };
}

const goesOn = ({ memory }: JobContext): boolean => moveFor(memory.phase, "SyncJob").pods === "sync";

/** Returns the effects on the shared objects, and whether they were found complete. */
export const planOwnedObjects = (context: JobContext): Reads<OwnedObjectsPlan> =>
  goesOn(context) ? upheld(context) : dissolved(context);

/** True if no pod of the group's plan lacks a node: each has one, had one, or is done. */
const isWhole = (context: JobContext): boolean => {
  const plan = planIn(context);
  const nodes = plannedNodes(context);
  const has = holderOf(context.memory.done);
  const settled = new Set(
    context.members
      .filter((member) => !isOver(member, context.memory))
      .filter((member) => hasFinished(member) || nodeNameOf(member.pod) !== undefined)
      .map(({ task, index }) => `${task}/${index}`),
  );
  return tasksIn(plan ?? { places: {} }).every((task) =>
    nodes(task).every((_, index) => settled.has(`${task}/${index}`) || has({ task, index })),
  );
};

const withAnnotations = (patch: Json, more: Json): Json => {
  if (Object.keys(more).length === 0) return patch;
  const metadata = fieldsOf(patch["metadata"]);
  return { ...patch, metadata: { ...metadata, annotations: { ...fieldsOf(metadata["annotations"]), ...more } } };
};

/** Returns the effects on the group. There is one group at a time: a retired group is deleted first. */
export const groupEffects = (context: JobContext): readonly Effect[] => {
  const { group, memory, priorities } = context;
  const { uid } = ownerOf(context);
  if (group === undefined)
    return goesOn(context) && !isHeld(context)
      ? [
          {
            do: "create",
            object: podGroup(podInputOf(context), priorities),
            resource: podGroups,
            owner: uid,
          },
        ]
      : [];
  if (isEnding(group) || !ownedBy(group, uid)) return [];
  if (group.metadata.uid === memory.retired || !goesOn(context)) return [removal(podGroups, group)];
  const change = groupPatch(group, podGroup(podInputOf(context), priorities));
  const stands = groupStatusPatch(
    group,
    context.members
      .filter((member) => member.phase !== "Succeeded" || hasSucceeded(member, memory))
      .map(({ pod }) => pod),
    { isWhole: isWhole(context), now: context.view.now },
  );
  const room = isHeld(context) ? {} : roomChange(context, group);
  if (change === undefined && stands === undefined && Object.keys(room).length === 0) return [];
  const patch = { ...change, ...withAnnotations(stands ?? {}, room) };
  const { resourceVersion } = group.metadata;
  return [{ do: "patch", ref: refTo(podGroups, group), uid: group.metadata.uid, resourceVersion, patch }];
};

/** Returns the claims as upstream notes them in `status.controlledResources`. */
export const claimNotes = (context: JobContext): Readonly<Record<string, string>> =>
  Object.fromEntries(
    claimsOf(context).map(({ object }) => [`volume-pvc-${object.metadata.name}`, object.metadata.name]),
  );

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
