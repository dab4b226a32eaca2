/**
 * An upstream installation: its Deployments by their part and the arguments of their containers, its leader leases, its
 * webhook configurations. The record of a migration in the cluster, which outlasts the death of a run: replicas and
 * webhook configurations.
 */
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages, replaceObject } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import { fieldsOf } from "../../core/json.ts";
import { type Obj, type Ref, type Resource, refTo, type Stored } from "../../core/object.ts";
import { notServed, Refused } from "../../inspection/io/refusal.ts";
import type { Session } from "../../inspection/io/session.ts";
import { ourLabels } from "../../installation/roles.ts";
import { type Account, accountIn } from "../../kube/accounts.ts";
import { configMaps, namespaces } from "../../kube/resources.ts";
import { isRenewed, type Part, partOf, usualNamespaces } from "../../kube/upstream-controllers.ts";
import type { Family } from "./families.ts";
import { withProperties } from "./mounted-file.ts";
import { ableAccounts } from "./rights.ts";

/** The value of a flag, written with or without an equals sign; undefined when it is not given. */
export const flagIn = (args: readonly string[], name: string): string | undefined => {
  const at = args.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : (args[at + 1] ?? "");
};

/** False for another flag, and for the `2>&1` that Volcano's manifests leave of a shell's redirection. */
const isValue = (arg: string | undefined): boolean => arg !== undefined && !arg.startsWith("-") && arg !== "2>&1";

/** The given flags, each with its value. */
export const flagsOf = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, at) => {
    if (!arg.startsWith("--")) return [];
    const next = args[at + 1];
    return [!arg.includes("=") && isValue(next) ? `${arg}=${next}` : arg];
  });

export const deployments: Resource = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };
export const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

const hookResource = (plural: string, kind: string): Resource => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural,
  kind,
});

/** The resources of webhook configurations. */
const hookResources: readonly Resource[] = [
  hookResource("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
  hookResource("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
];

export type Hook = { readonly resource: Resource; readonly object: Stored };

export type Workload<P extends Part = Part> = {
  readonly part: P;
  readonly object: Stored;
  readonly namespace: string;
  readonly name: string;
  /** Replicas of the spec; Kubernetes' default is 1. */
  readonly replicas: number;
  /** Existing pods, as the status counts them. */
  readonly standing: number;
  readonly available: number;
  readonly image: string;
  readonly args: readonly string[];
};

/** A Deployment that the migration stops and starts. */
export type Stoppable = Workload<"controller" | "webhook">;

export type Installed = {
  readonly family: Family;
  readonly workloads: readonly Stoppable[];
  /** Schedulers. They keep running. */
  readonly schedulers: readonly Workload<"scheduler">[];
  /** A lease that its scheduler renews, as `namespace/name`. */
  readonly scheduling: string | undefined;
  readonly leases: readonly Stored[];
  readonly hooks: readonly Hook[];
  /** The namespaces that a controller's selector selects, by the selector. */
  readonly selected: Readonly<Record<string, readonly string[]>>;
  /** Deployments, as `namespace/name`, that look like its controller and that anybody may have made. */
  readonly ignored: readonly string[];
  /** Why the settings of its controllers are not all known, one text each. */
  readonly unread: readonly string[];
  /** The API server's clock, epoch ms. */
  readonly now: number;
};

/** Whether there is any part of an installation to leave. */
export const isInstalled = ({ workloads, leases: found, hooks }: Installed): boolean =>
  workloads.length + found.length + hooks.length > 0;

const count = z.number().default(0).catch(0);

const deployment = z.looseObject({
  spec: z.looseObject({
    replicas: z.number().default(1),
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.array(z.looseObject({ image: z.string().default(""), args: z.array(z.string()).default([]) })),
      }),
    }),
  }),
  status: z.looseObject({ replicas: count, availableReplicas: count }).default({ replicas: 0, availableReplicas: 0 }),
});

/** The Deployment as a part of the installation; empty where it is none. */
export const workloadOf = ({ upstream }: Family, object: Stored): readonly Workload[] => {
  const part = partOf(upstream, object);
  const parsed = deployment.safeParse(object);
  if (part === undefined || !parsed.success) return [];
  const { spec, status } = parsed.data;
  const container = spec.template.spec.containers.find(({ image }) => image === part.image);
  const { name, namespace = "" } = object.metadata;
  const { replicas, availableReplicas: available } = status;
  const read = { replicas: spec.replicas, standing: replicas, available, image: part.image };
  return [{ part: part.part, object, namespace, name, args: container?.args ?? [], ...read }];
};

const isStoppable = (one: Workload): one is Stoppable => one.part !== "scheduler";
const isScheduler = (one: Workload): one is Workload<"scheduler"> => one.part === "scheduler";

/** The names of the leader leases that this installation may hold. */
const leaseNames = ({ upstream, lease }: Family, workloads: readonly Stoppable[]): ReadonlySet<string> =>
  new Set([
    ...upstream.leases,
    ...workloads.flatMap(({ args }) => lease.flags.flatMap((flag) => flagIn(args, flag) ?? [])),
  ]);

const hooks = z.looseObject({
  webhooks: z.array(
    z.looseObject({
      clientConfig: z.looseObject({
        service: z.looseObject({ path: z.string().default(""), name: z.string(), namespace: z.string() }).optional(),
        url: z.string().optional(),
      }),
    }),
  ),
});

/** True for a webhook configuration of the family. Others (Kueue) use such paths, too: the service's place counts. */
const isItsHook = ({ hooks: { path, near } }: Family, object: Stored, workloads: readonly Workload[]): boolean => {
  const { webhooks } = hooks.safeParse(object).data ?? { webhooks: [] };
  const labels = object.metadata.labels ?? {};
  const isOurs = Object.entries(ourLabels).every(([key, value]) => labels[key] === value);
  const places = new Set(workloads.map(({ namespace }) => namespace));
  const its = webhooks.every(({ clientConfig: { service, url = "" } }) => {
    if (service === undefined) return near.test(object.metadata.name) && path.test(url);
    const isNear = places.size === 0 ? near.test(service.name) : places.has(service.namespace);
    return isNear && path.test(service.path);
  });
  return !isOurs && webhooks.length > 0 && its;
};

export const all = async (
  { transport }: Session,
  resource: Resource,
  selector?: string,
): Promise<readonly Stored[]> => {
  const found: Stored[] = [];
  for await (const page of pages(transport, { resource, selector })) found.push(...page.items);
  return found;
};

/** Lists all objects; undefined where the kind is not served. */
export const objectsOf = async (session: Session, resource: Resource): Promise<readonly Stored[] | undefined> => {
  try {
    return await all(session, resource);
  } catch (cause) {
    if (cause instanceof ApiError && notServed(cause)) return undefined;
    throw cause;
  }
};

/** The API server's clock, epoch ms. */
export const clockOf = async ({ transport }: Session): Promise<number> =>
  (await openCluster(transport).get({ resource: namespaces, name: "kube-system" })).date;

const controllers = (workloads: readonly Stoppable[]): readonly Stoppable[] =>
  workloads.filter(({ part }) => part === "controller");

const selectorOf = ({ args }: Workload): string => flagIn(args, "namespace-selector") ?? "";

/** The namespaces that each namespace selector selects. */
const selectedBy = async (session: Session, workloads: readonly Stoppable[]): Promise<Installed["selected"]> => {
  const selectors = [...new Set(controllers(workloads).map(selectorOf))].filter((selector) => selector !== "");
  const found = selectors.map(async (selector): Promise<readonly [string, readonly string[]]> => {
    const objects = await all(session, namespaces, selector);
    return [selector, objects.map(({ metadata }) => metadata.name)];
  });
  return Object.fromEntries(await Promise.all(found));
};

const accountOfWorkload = ({ object, namespace }: Workload): Account => {
  const { spec } = fieldsOf(fieldsOf(object.spec)["template"]);
  return accountIn(namespace, spec);
};

/**
 * The namespaces of an installation: those of administrators, and those where an account that may write the kind in all
 * namespaces runs a controller. A tenant can forge a Deployment or a lease in any other.
 */
const placesOf = async (session: Session, { upstream }: Family, workloads: readonly Workload[]) => {
  const { controllerNamespaces: listed = usualNamespaces } = session;
  const elsewhere = workloads.filter(({ part, namespace }) => part === "controller" && !listed.includes(namespace));
  const able = await ableAccounts(session, elsewhere.map(accountOfWorkload), upstream.right);
  const places = new Set([...listed, ...able.map(({ namespace }) => namespace)]);
  const ignored = elsewhere.filter(({ namespace }) => !places.has(namespace));
  return { places, ignored: ignored.map(({ namespace, name }) => `${namespace}/${name}`) };
};

/** Reads all parts of an installation. Writes nothing. */
export const findInstalled = async (session: Session, family: Family): Promise<Installed> => {
  const everywhere = (await all(session, deployments)).flatMap((object) => workloadOf(family, object));
  const { places, ignored } = await placesOf(session, family, everywhere);
  const found = everywhere.filter(({ namespace }) => places.has(namespace));
  const { workloads, unread } = await withProperties(session, family, found.filter(isStoppable));
  const names = leaseNames(family, workloads);
  const hooksOf = async (resource: Resource): Promise<readonly Hook[]> =>
    (await all(session, resource))
      .filter((object) => isItsHook(family, object, found))
      .map((object) => ({ resource, object }));
  const now = await clockOf(session);
  const held = (await all(session, leases)).filter(({ metadata: { namespace = "" } }) => places.has(namespace));
  const scheduling = held.find(
    (lease) => family.scheduler?.leases.includes(lease.metadata.name) === true && isRenewed(lease, now),
  );
  return {
    family,
    workloads,
    schedulers: found.filter(isScheduler),
    scheduling: scheduling === undefined ? undefined : `${scheduling.metadata.namespace}/${scheduling.metadata.name}`,
    leases: held.filter(({ metadata }) => names.has(metadata.name)),
    hooks: (await Promise.all(hookResources.map(hooksOf))).flat(),
    selected: await selectedBy(session, workloads),
    ignored,
    unread,
    now,
  };
};

/** A name for a selector that selects nothing: no namespace has this name, and an empty list would mean all. */
const nowhere = (selector: string): string => `none with ${selector}`;

const chosenBy = (controller: Workload, { family, selected }: Pick<Installed, "family" | "selected">) => {
  const { flag, otherwise } = family.watches;
  const given = flagIn(controller.args, flag) ?? otherwise;
  const names = given.split(",").map((name) => name.trim().replace(/^\*$/, ""));
  const selector = selectorOf(controller);
  if (selector === "") return names;
  const both = [...names.filter((name) => name !== ""), ...(selected[selector] ?? [])];
  return both.length > 0 ? both : [nowhere(selector)];
};

/** The namespaces that its controllers watch, by their names and by what their selectors select; empty: all of them. */
export const watchedBy = (installed: Pick<Installed, "family" | "workloads" | "selected">): readonly string[] => {
  const each = controllers(installed.workloads).map((controller) => chosenBy(controller, installed));
  const names = each.flat();
  return names.includes("") || each.length === 0 ? [] : [...new Set(names)].sort();
};

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

export type KeptObject = { readonly saved: Saved; readonly object: Stored };

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
export const loadSaved = async (session: Session, { record }: Family): Promise<KeptObject | undefined> => {
  const [object, ...more] = await all(session, configMaps, `${label}=${record.label}`);
  if (more.length > 0) throw new Refused("there is more than one record of a migration: keep the right ConfigMap");
  return object === undefined ? undefined : { saved: read(object), object };
};

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
  before: KeptObject | undefined,
): Promise<KeptObject> => {
  const { transport } = session;
  if (before !== undefined) {
    const next = { ...before.object, data: { [key]: JSON.stringify(saved, null, 2) } };
    return { saved, object: await replaceObject(transport, refTo(configMaps, before.object), next) };
  }
  const namespace = saved.workloads[0]?.namespace ?? saved.leases[0]?.namespace ?? "default";
  const object = objectOf(namespace, family, saved);
  return { saved, object: await openCluster(transport).create(refTo(configMaps, object), object) };
};

export const dropSaved = ({ transport }: Session, { object }: KeptObject): Promise<void> =>
  openCluster(transport).remove(refTo(configMaps, object), { uid: object.metadata.uid });

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
