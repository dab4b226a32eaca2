/**
 * Recognizes the controllers whose work Rekindle takes over: by the leases that they renew and the workloads that run
 * them. Anybody may forge these in a namespace of its own, so callers say which namespaces count. Pure.
 */
import { isRecord } from "../core/json.ts";
import type { Obj, Stored } from "../core/object.ts";
import type { ClusterRight } from "./accounts.ts";

export type Upstream = {
  /** Its usual name among users. */
  readonly name: string;
  readonly leases: readonly string[];
  /** The API groups whose objects it writes. */
  readonly groups: readonly string[];
  /** Matches the repository of its controller's image, without the registry. */
  readonly image: RegExp;
  /**
   * Labels that its chart and manifests put on its controller's pods. Other pods may have them, too; `image` tells
   * these apart.
   */
  readonly labels: Readonly<Record<string, string>>;
  /** The right without which its controller cannot do its work. */
  readonly right: ClusterRight;
  /** Images of its other parts, which decide nothing about its objects. */
  readonly beside?: readonly { readonly part: Part; readonly image: RegExp }[];
};

/** The controllers of an upstream, the server of its webhooks, and its scheduler. */
export type Part = "controller" | "webhook" | "scheduler";

/** Where upstream's charts and manifests are usually installed, and Rekindle itself. */
export const usualNamespaces: readonly string[] = [
  "spark-operator",
  "kubeflow",
  "volcano-system",
  "kube-system",
  "rekindle",
];

export const upstreams: readonly Upstream[] = [
  {
    name: "kubeflow spark-operator",
    leases: ["spark-operator-lock", "spark-operator-controller-lock"],
    groups: ["sparkoperator.k8s.io"],
    labels: { "app.kubernetes.io/name": "spark-operator" },
    right: { group: "sparkoperator.k8s.io", resources: ["sparkapplications/status"], verbs: ["update", "patch"] },
    image: /(^|\/)(kubeflow|googlecloudplatform|gcr-io)\/spark-operator(\/controller)?$|(^|\/)spark-operator$/,
  },
  {
    name: "Apache's spark-kubernetes-operator",
    leases: ["spark-operator-lease"],
    groups: ["spark.apache.org"],
    labels: { "app.kubernetes.io/name": "spark-kubernetes-operator" },
    right: { group: "spark.apache.org", resources: ["sparkapplications/status"], verbs: ["update", "patch"] },
    image: /(^|\/)spark-kubernetes-operator$/,
  },
  {
    name: "Volcano",
    leases: ["vc-controller-manager"],
    groups: ["batch.volcano.sh", "bus.volcano.sh", "scheduling.volcano.sh", "flow.volcano.sh"],
    labels: { app: "volcano-controller" },
    right: { group: "batch.volcano.sh", resources: ["jobs/status"], verbs: ["update", "patch"] },
    image: /(^|\/)vc-controller-manager(-[a-z0-9]+)?$/,
    beside: [
      { part: "webhook", image: /(^|\/)vc-webhook-manager(-[a-z0-9]+)?$/ },
      { part: "scheduler", image: /(^|\/)vc-(agent-)?scheduler(-[a-z0-9]+)?$/ },
    ],
  },
];

/** An image without its tag and digest. */
const repositoryOf = (image: string): string => (image.split("@")[0] ?? "").replace(/:[^/:]*$/, "");

/** Returns a value by its path; undefined where there is none. */
export const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => {
    if (Array.isArray(inner)) return inner[Number(name)];
    return isRecord(inner) ? inner[name] : undefined;
  }, value);

/** A lease is believed for this time at most, ms, whatever duration and time of renewal it states. */
const longestLeaseMs = 3_600_000;

/**
 * True while a lease is held: it was renewed within its own duration, and some grace, before `now` by the server's
 * clock. A lease without a holder was released.
 */
export const isRenewed = (lease: Obj, now: number): boolean => {
  const spec = lease.spec;
  const holder = at(spec, "holderIdentity");
  const renewed = Date.parse(String(at(spec, "renewTime") ?? ""));
  const seconds = at(spec, "leaseDurationSeconds");
  if (typeof holder !== "string" || holder === "" || Number.isNaN(renewed)) return false;
  const graceMs = 5_000;
  const heldMs = Math.min((typeof seconds === "number" ? seconds : 15) * 1_000, longestLeaseMs);
  return now <= renewed + heldMs + graceMs && renewed <= now + longestLeaseMs;
};

/** True of a pod with a container of an image whose repository matches. */
export const runsImage = (pod: Obj, image: RegExp): boolean => {
  const containers = at(pod, "spec", "containers");
  return (
    Array.isArray(containers) && containers.some((one) => image.test(repositoryOf(String(at(one, "image") ?? ""))))
  );
};

/** A field manager, and the age up to which its writes count, ms; `statusOnly`: only those to the status. */
type Writer = { readonly manager: RegExp; readonly withinMs: number; readonly statusOnly?: true };

/** True if this field manager wrote to the object within its time. */
export const writtenBy = (object: Obj, { manager, withinMs, statusOnly }: Writer, now: number): boolean => {
  const shares = at(object.metadata, "managedFields");
  if (!Array.isArray(shares)) return false;
  return shares.some((share) => {
    const time = Date.parse(String(at(share, "time") ?? ""));
    const counts = statusOnly !== true || at(share, "subresource") === "status";
    return counts && manager.test(String(at(share, "manager") ?? "")) && now - time <= withinMs;
  });
};

/** Returns the part of an upstream that a container runs, by its image. */
export const partBy = ({ image, beside = [] }: Upstream, container: unknown): Part | undefined => {
  const repository = repositoryOf(String(at(container, "image") ?? ""));
  if (image.test(repository)) return at(container, "args", "0") === "webhook" ? "webhook" : "controller";
  return beside.find((one) => one.image.test(repository))?.part;
};

/**
 * Returns the part of an upstream that a workload runs, and by which image. A controller precedes other parts, which
 * decide nothing.
 */
export const partOf = (
  upstream: Upstream,
  workload: Obj,
): { readonly part: Part; readonly image: string } | undefined => {
  const containers = at(workload, "spec", "template", "spec", "containers");
  if (!Array.isArray(containers)) return undefined;
  const found = containers.flatMap((container): { part: Part; image: string }[] => {
    const part = partBy(upstream, container);
    return part === undefined ? [] : [{ part, image: String(at(container, "image")) }];
  });
  return found.find(({ part }) => part === "controller") ?? found[0];
};

const placeOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** Returns one line per lease that a controller of an upstream renews, among leases of these namespaces. */
export const leaseSigns = (
  upstream: Upstream,
  seen: { readonly leases: readonly Stored[]; readonly namespaces: readonly string[]; readonly now: number },
): readonly string[] =>
  seen.leases
    .filter(({ metadata: { name } }) => upstream.leases.includes(name))
    .filter(({ metadata: { namespace = "" } }) => seen.namespaces.includes(namespace))
    .filter((lease) => isRenewed(lease, seen.now))
    .map((lease) => `${upstream.name} holds the lease ${placeOf(lease)}`);
