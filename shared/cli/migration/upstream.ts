/**
 * An upstream installation: its Deployments by their part and the arguments of their containers, its leader leases,
 * its webhook configurations.
 */
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { namespaces } from "../../kube/resources.ts";
import { isRenewed, type Part, partOf } from "../../kube/upstream-controllers.ts";
import { ours } from "../installation/roles.ts";
import { notServed, type Session } from "../io/tools.ts";
import type { Family } from "./families.ts";

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
export const hookResources: readonly Resource[] = [
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
  const isOurs = Object.entries(ours).every(([key, value]) => labels[key] === value);
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

/** Reads all parts of an installation. Writes nothing. */
export const findInstalled = async (session: Session, family: Family): Promise<Installed> => {
  const found = (await all(session, deployments)).flatMap((object) => workloadOf(family, object));
  const workloads = found.filter(isStoppable);
  const names = leaseNames(family, workloads);
  const hooksOf = async (resource: Resource): Promise<readonly Hook[]> =>
    (await all(session, resource))
      .filter((object) => isItsHook(family, object, found))
      .map((object) => ({ resource, object }));
  const now = await clockOf(session);
  const held = await all(session, leases);
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
    now,
  };
};

/** A name for a selector that selects nothing: no namespace has this name, and an empty list would mean all. */
const nowhere = (selector: string): string => `none with ${selector}`;

const chosenBy = (controller: Workload, selected: Installed["selected"]): readonly string[] => {
  const names = (flagIn(controller.args, "namespaces") ?? "").split(",").map((name) => name.trim());
  const selector = selectorOf(controller);
  if (selector === "") return names;
  const both = [...names.filter((name) => name !== ""), ...(selected[selector] ?? [])];
  return both.length > 0 ? both : [nowhere(selector)];
};

/** The namespaces that its controllers watch, by their names and by what their selectors select; empty: all of them. */
export const watchedBy = ({ workloads, selected }: Pick<Installed, "workloads" | "selected">): readonly string[] => {
  const each = controllers(workloads).map((controller) => chosenBy(controller, selected));
  const names = each.flat();
  return names.includes("") || each.length === 0 ? [] : [...new Set(names)].sort();
};
