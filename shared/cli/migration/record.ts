/** The record of a migration in the cluster, which outlasts the death of a run: replicas and webhook configurations. */
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { replaceObject } from "../../adapters/kubernetes/requests.ts";
import type { Obj, Ref, Stored } from "../../core/object.ts";
import { configMaps } from "../../kube/resources.ts";
import { Refused, type Session } from "../io/tools.ts";
import type { Family } from "./families.ts";
import { all, hookResources, type Installed, watchedBy } from "./upstream.ts";

const place = z.object({ namespace: z.string(), name: z.string() });

const shape = z.object({
  schema: z.literal(1),
  /** Leaving upstream, gone from it, or on the way back. */
  phase: z.enum(["leaving", "left", "returning"]),
  /** Deployments, each with the replicas to restore. */
  workloads: z.array(place.extend({ part: z.enum(["controller", "webhook"]), replicas: z.number() })),
  hooks: z.array(
    z.object({ plural: z.string(), object: z.looseObject({ metadata: z.looseObject({ name: z.string() }) }) }),
  ),
  leases: z.array(place.extend({ made: z.boolean() })),
  /** Namespaces that upstream's controllers watch; empty: all. */
  watched: z.array(z.string()),
});

/** The content of the record. */
export type Saved = z.infer<typeof shape>;

export type Kept = { readonly saved: Saved; readonly object: Stored };

const label = "rekindle.dev/migration";
const key = "record.json";

/** Annotation of a configuration that is created again and not in force yet. */
export const restoring = "rekindle.dev/restoring";

const read = (object: Stored): Saved => {
  const { namespace, name: own } = object.metadata;
  const data = z.looseObject({ [key]: z.string() }).safeParse(object["data"]);
  try {
    return shape.parse(JSON.parse(String(data.data?.[key])));
  } catch {
    throw new Refused(`the record of the migration, ConfigMap ${namespace}/${own}, cannot be read: repair it by hand`);
  }
};

/** Reads the record; undefined when upstream was never left. */
export const loadSaved = async (session: Session, { record }: Family): Promise<Kept | undefined> => {
  const [object, ...more] = await all(session, configMaps, `${label}=${record.label}`);
  if (more.length > 0) throw new Refused("there is more than one record of a migration: keep the right ConfigMap");
  return object === undefined ? undefined : { saved: read(object), object };
};

const refOf = ({ metadata }: Obj): Ref => ({
  resource: configMaps,
  name: metadata.name,
  ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
});

const objectOf = (namespace: string, { record }: Family, saved: Saved): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: record.name, namespace, labels: { [label]: record.label } },
  data: { [key]: JSON.stringify(saved, null, 2) },
});

/** Writes the record. Of two concurrent writes the API server refuses one. */
export const keepSaved = async (
  { session, family }: { readonly session: Session; readonly family: Family },
  saved: Saved,
  before: Kept | undefined,
): Promise<Kept> => {
  const { transport } = session;
  if (before !== undefined) {
    const next = { ...before.object, data: { [key]: JSON.stringify(saved, null, 2) } };
    return { saved, object: await replaceObject(transport, refOf(before.object), next) };
  }
  const namespace = saved.workloads[0]?.namespace ?? saved.leases[0]?.namespace ?? "default";
  const object = objectOf(namespace, family, saved);
  return { saved, object: await openCluster(transport).create(refOf(object), object) };
};

export const dropSaved = ({ transport }: Session, { object }: Kept): Promise<void> =>
  openCluster(transport).remove(refOf(object), { uid: object.metadata.uid });

/** A configuration as it can be created again: without what the server writes into it. */
const bare = ({ metadata, ...object }: Stored): Saved["hooks"][number]["object"] => {
  const { name: own, labels, annotations, ownerReferences, finalizers } = metadata;
  const kept = { name: own, labels, annotations, ownerReferences, finalizers };
  return { ...object, metadata: kept };
};

const hookText = ({ plural, object }: Saved["hooks"][number]): string => `${plural}/${object.metadata.name}`;

const same = (a: { readonly namespace: string; readonly name: string }, b: typeof a): boolean =>
  a.namespace === b.namespace && a.name === b.name;

/**
 * Merges an installation into the saved record. Replicas that the migration has set to 0, and configurations that it
 * has deleted or not fully restored, come from the record alone.
 */
export const savedOf = (installed: Installed, before: Saved | undefined): Saved => {
  const workloads = installed.workloads.map(({ namespace, name: own, part, replicas }) => {
    const known = before?.workloads.find((one) => same(one, { namespace, name: own }));
    return { namespace, name: own, part, replicas: known?.replicas ?? replicas };
  });
  const hooks = installed.hooks
    .filter(({ object }) => object.metadata.annotations?.[restoring] === undefined)
    .map(({ resource, object }) => ({ plural: resource.plural, object: bare(object) }));
  const isThere = ({ plural, object }: Saved["hooks"][number]): boolean =>
    hooks.some((one) => one.plural === plural && one.object.metadata.name === object.metadata.name);
  const leases = installed.leases.map(({ metadata: { namespace = "", name: own } }) => {
    const known = before?.leases.find((one) => same(one, { namespace, name: own }));
    return { namespace, name: own, made: known?.made ?? false };
  });
  return {
    schema: 1,
    phase: before?.phase ?? "leaving",
    workloads: [...workloads, ...(before?.workloads ?? []).filter((one) => !workloads.some((two) => same(one, two)))],
    hooks: [...hooks, ...(before?.hooks ?? []).filter((one) => !isThere(one))].sort((a, b) =>
      hookText(a) < hookText(b) ? -1 : 1,
    ),
    leases: [...leases, ...(before?.leases ?? []).filter((one) => !leases.some((two) => same(one, two)))],
    watched: before?.watched ?? [...watchedBy(installed)],
  };
};

/** A saved configuration, as it is created again. */
export const hookOf = ({ plural, object }: Saved["hooks"][number]): { readonly ref: Ref; readonly object: Obj } => {
  const resource = hookResources.find((one) => one.plural === plural);
  if (resource === undefined) throw new Refused(`the record of the migration names unknown ${plural}`);
  const whole = { apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind, ...object };
  return { ref: { resource, name: object.metadata.name }, object: whole };
};
