/** A kubeflow installation as it stands: its Deployments by their part, its leader leases, its webhook configurations. */
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { namespaces } from "../../kube/resources.ts";
import { type Part, partOf, upstreams } from "../../kube/upstreams.ts";
import { ours } from "../installation/marks.ts";
import type { Session } from "../tools.ts";

export const deployments: Resource = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };
export const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

const hookResource = (plural: string, kind: string): Resource => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural,
  kind,
});

/** Where webhooks are registered. */
export const hookResources: readonly Resource[] = [
  hookResource("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
  hookResource("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
];

export type Hook = { readonly resource: Resource; readonly object: Stored };

export type Workload = {
  readonly part: Part;
  readonly object: Stored;
  readonly namespace: string;
  readonly name: string;
  /** As its spec says; Kubernetes' default is 1. */
  readonly replicas: number;
  /** Pods that there still are, as its status says. */
  readonly standing: number;
  readonly available: number;
  readonly image: string;
  readonly args: readonly string[];
};

export type Installed = {
  readonly workloads: readonly Workload[];
  readonly leases: readonly Stored[];
  readonly hooks: readonly Hook[];
  /** The namespaces that a selector of its controllers selects now, by the selector. */
  readonly selected: Readonly<Record<string, readonly string[]>>;
  /** The API server's clock, epoch ms. */
  readonly now: number;
};

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

const kubeflow = upstreams.filter(({ groups }) => groups.includes("sparkoperator.k8s.io"));

/** What it is of an installation; empty when it is none of it. */
export const workloadOf = (object: Stored): readonly Workload[] =>
  kubeflow.flatMap((upstream) => {
    const part = partOf(upstream, object);
    const parsed = deployment.safeParse(object);
    if (part === undefined || !parsed.success) return [];
    const { spec, status } = parsed.data;
    const container = spec.template.spec.containers.find(({ image }) => image === part.image);
    const { name, namespace = "" } = object.metadata;
    const { replicas, availableReplicas: available } = status;
    const read = { replicas: spec.replicas, standing: replicas, available, image: part.image };
    return [{ part: part.part, object, namespace, name, args: container?.args ?? [], ...read }];
  });

/** The value of a flag, written with or without an equals sign; undefined when it is not given. */
export const flagIn = (args: readonly string[], name: string): string | undefined => {
  const at = args.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : (args[at + 1] ?? "");
};

/** Flags as they are given, each with its value. */
export const flagsOf = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, at) => {
    if (!arg.startsWith("--")) return [];
    const next = args[at + 1];
    const apart = !arg.includes("=") && next !== undefined && !next.startsWith("-");
    return [apart ? `${arg}=${next}` : arg];
  });

/** The names of the leader leases that this installation may hold. */
const leaseNames = (workloads: readonly Workload[]): ReadonlySet<string> =>
  new Set([
    ...kubeflow.flatMap((upstream) => upstream.leases),
    ...workloads.flatMap(({ args }) => flagIn(args, "leader-election-lock-name") ?? []),
  ]);

const hooks = z.looseObject({
  webhooks: z.array(
    z.looseObject({
      clientConfig: z.looseObject({
        service: z.looseObject({ path: z.string(), name: z.string(), namespace: z.string() }),
      }),
    }),
  ),
});

/** Paths of its webhook server. Others use such paths too (Kueue), so where its service is counts as well. */
const itsPath = /^\/(mutate|validate)-(-v1-pod|sparkoperator-k8s-io-.+)$/;

const isItsHook = (object: Stored, workloads: readonly Workload[]): boolean => {
  const { webhooks } = hooks.safeParse(object).data ?? { webhooks: [] };
  const labels = object.metadata.labels ?? {};
  const isOurs = Object.entries(ours).every(([key, value]) => labels[key] === value);
  const places = new Set(workloads.map(({ namespace }) => namespace));
  const its = webhooks.every(({ clientConfig: { service } }) => {
    const isNear = places.size === 0 ? /spark/.test(service.name) : places.has(service.namespace);
    return isNear && itsPath.test(service.path);
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

/** The API server's clock, epoch ms. */
export const clockOf = async ({ transport }: Session): Promise<number> =>
  (await openCluster(transport).get({ resource: namespaces, name: "kube-system" })).date;

const controllers = (workloads: readonly Workload[]): readonly Workload[] =>
  workloads.filter(({ part }) => part === "controller");

const selectorOf = ({ args }: Workload): string => flagIn(args, "namespace-selector") ?? "";

/** What every selector of namespaces selects. */
const selectedBy = async (session: Session, workloads: readonly Workload[]): Promise<Installed["selected"]> => {
  const selectors = [...new Set(controllers(workloads).map(selectorOf))].filter((selector) => selector !== "");
  const found = selectors.map(async (selector): Promise<readonly [string, readonly string[]]> => {
    const objects = await all(session, namespaces, selector);
    return [selector, objects.map(({ metadata }) => metadata.name)];
  });
  return Object.fromEntries(await Promise.all(found));
};

/** Looks at everything that belongs to an installation; nothing is written. */
export const findInstalled = async (session: Session): Promise<Installed> => {
  const workloads = (await all(session, deployments)).flatMap(workloadOf);
  const names = leaseNames(workloads);
  const hooksOf = async (resource: Resource): Promise<readonly Hook[]> =>
    (await all(session, resource))
      .filter((object) => isItsHook(object, workloads))
      .map((object) => ({ resource, object }));
  return {
    workloads,
    leases: (await all(session, leases)).filter(({ metadata }) => names.has(metadata.name)),
    hooks: (await Promise.all(hookResources.map(hooksOf))).flat(),
    selected: await selectedBy(session, workloads),
    now: await clockOf(session),
  };
};

/** Stands for namespaces where there are none: no namespace is called so, and an empty list would mean all. */
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
