/**
 * Recognizes the controllers whose work Rekindle takes over: by the leases they renew, the images they run and their
 * status writes. Pure.
 */
import { isRecord } from "../core/json.ts";
import type { Obj, Stored } from "../core/object.ts";
import { isReady, labelOf } from "./pods.ts";

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
  /** Images of its other parts, which decide nothing about its objects. */
  readonly beside?: readonly { readonly part: Part; readonly image: RegExp }[];
};

/** The controllers of an upstream, the server of its webhooks, and its scheduler. */
export type Part = "controller" | "webhook" | "scheduler";

export const upstreams: readonly Upstream[] = [
  {
    name: "kubeflow spark-operator",
    leases: ["spark-operator-lock", "spark-operator-controller-lock"],
    groups: ["sparkoperator.k8s.io"],
    labels: { "app.kubernetes.io/name": "spark-operator" },
    image: /(^|\/)(kubeflow|googlecloudplatform|gcr-io)\/spark-operator(\/controller)?$|(^|\/)spark-operator$/,
  },
  {
    name: "Volcano",
    leases: ["vc-controller-manager"],
    groups: ["batch.volcano.sh", "bus.volcano.sh", "scheduling.volcano.sh", "flow.volcano.sh"],
    labels: { app: "volcano-controller" },
    image: /(^|\/)vc-controller-manager(-[a-z0-9]+)?$/,
    beside: [
      { part: "webhook", image: /(^|\/)vc-webhook-manager(-[a-z0-9]+)?$/ },
      { part: "scheduler", image: /(^|\/)vc-(agent-)?scheduler(-[a-z0-9]+)?$/ },
    ],
  },
];

/** An image without its tag and digest. */
const repositoryOf = (image: string): string => (image.split("@")[0] ?? "").replace(/:[^/:]*$/, "");

const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => {
    if (Array.isArray(inner)) return inner[Number(name)];
    return isRecord(inner) ? inner[name] : undefined;
  }, value);

/**
 * True while a lease is held: it was renewed within its own duration, and some grace, before `now` by the server's
 * clock. A lease without a holder was released.
 */
export const isRenewed = (lease: Obj, now: number): boolean => {
  const spec = lease["spec"];
  const holder = at(spec, "holderIdentity");
  const renewed = Date.parse(String(at(spec, "renewTime") ?? ""));
  const seconds = at(spec, "leaseDurationSeconds");
  if (typeof holder !== "string" || holder === "" || Number.isNaN(renewed)) return false;
  const graceMs = 5_000;
  return now <= renewed + (typeof seconds === "number" ? seconds : 15) * 1_000 + graceMs;
};

/** True of a pod with a container of an image whose repository matches. */
export const runsImage = (pod: Obj, image: RegExp): boolean => {
  const containers = at(pod, "spec", "containers");
  return (
    Array.isArray(containers) && containers.some((one) => image.test(repositoryOf(String(at(one, "image") ?? ""))))
  );
};

/** True if this field manager wrote any field of the object within this many ms. */
export const writtenBy = (object: Obj, manager: RegExp, now: number, withinMs: number): boolean => {
  const shares = at(object.metadata, "managedFields");
  if (!Array.isArray(shares)) return false;
  return shares.some((share) => {
    const time = Date.parse(String(at(share, "time") ?? ""));
    return manager.test(String(at(share, "manager") ?? "")) && now - time <= withinMs;
  });
};

/** Returns the part of an upstream that a container runs, by its image. */
const partBy = ({ image, beside = [] }: Upstream, container: unknown): Part | undefined => {
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

/** True for a pod, found by its labels, that is Ready and is not known to run other parts only. */
const isController = (upstream: Upstream, pod: Stored): boolean => {
  const containers = at(pod, "spec", "containers");
  const parts = (Array.isArray(containers) ? containers : []).flatMap((one) => partBy(upstream, one) ?? []);
  const isOther = parts.length > 0 && !parts.includes("controller");
  return isReady(pod) && !isOther && labelOf(pod, "app.kubernetes.io/component") !== "webhook";
};

const isMeantToRun = (deployment: Obj): boolean => at(deployment, "spec", "replicas") !== 0;

const placeOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** A status write within this time, ms, shows that a controller is at work. */
export const freshMs = 60_000;

/**
 * Field managers that are no competing controller: Rekindle, kubectl, and Volcano's schedulers, which stay and write
 * the amounts allocated in queues.
 */
const harmless = /^(rekindle|kubectl|vc-(agent-)?scheduler)/;

/** Returns the latest writer of the object's status within `freshMs`, and when it wrote; undefined if there is none. */
export const writerOf = (
  object: Stored,
  now: number,
): { readonly manager: string; readonly at: number } | undefined => {
  const shares = at(object.metadata, "managedFields");
  if (!Array.isArray(shares)) return undefined;
  const writers = shares.flatMap((share) => {
    const manager = String(at(share, "manager") ?? "");
    const time = Date.parse(String(at(share, "time") ?? ""));
    const counts = at(share, "subresource") === "status" && !harmless.test(manager) && now - time <= freshMs;
    return counts ? [{ manager, at: time }] : [];
  });
  return writers.sort((a, b) => b.at - a.at)[0];
};

/** Returns one line if another controller writes the status of these objects: the newest write and their number. */
export const writingSigns = (objects: readonly Stored[], now: number): readonly string[] => {
  const written = objects.flatMap((object) => {
    const writer = writerOf(object, now);
    return writer === undefined ? [] : [{ object, ...writer }];
  });
  const [newest] = written.sort((a, b) => b.at - a.at);
  if (newest === undefined) return [];
  const { object, manager } = newest;
  const seconds = Math.max(0, Math.round((now - newest.at) / 1_000));
  const more = written.length === 1 ? "" : ` (and of ${written.length - 1} more)`;
  return [`${manager} wrote the status of ${object.kind} ${placeOf(object)} ${seconds} s ago${more}`];
};

/** Returns one line per sign that another controller is at work; empty if there is none. */
export const signsOf = (
  known: readonly Upstream[],
  seen: {
    readonly leases: readonly Stored[];
    readonly deployments: readonly Stored[];
    /** Pods with the labels of an upstream's controller; absent: they were not read. */
    readonly pods?: readonly Stored[];
    readonly now: number;
  },
): readonly string[] =>
  known.flatMap((upstream) => [
    ...seen.leases
      .filter((lease) => upstream.leases.includes(lease.metadata.name) && isRenewed(lease, seen.now))
      .map((lease) => `${upstream.name} holds the lease ${placeOf(lease)}`),
    ...seen.deployments
      .filter((one) => isMeantToRun(one) && partOf(upstream, one)?.part === "controller")
      .map((one) => `${upstream.name} runs as the deployment ${placeOf(one)}`),
    ...(seen.pods ?? [])
      .filter((pod) => Object.entries(upstream.labels).every(([name, value]) => labelOf(pod, name) === value))
      .filter((pod) => isController(upstream, pod))
      .map((pod) => `${upstream.name} runs in the pod ${placeOf(pod)}`),
  ]);
