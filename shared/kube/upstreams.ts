/** How the controllers whose work Rekindle takes over are recognised: the leases they renew and the images they run. Pure. */
import type { Obj, Stored } from "../core/object.ts";
import { isRecord } from "./answers.ts";

export type Upstream = {
  /** As its users call it. */
  readonly name: string;
  readonly leases: readonly string[];
  /** The API groups whose objects it writes. */
  readonly groups: readonly string[];
  /** Matches the repository of its controller's image, without the registry. */
  readonly image: RegExp;
};

export const upstreams: readonly Upstream[] = [
  {
    name: "kubeflow spark-operator",
    leases: ["spark-operator-lock", "spark-operator-controller-lock"],
    groups: ["sparkoperator.k8s.io"],
    image: /(^|\/)(kubeflow|googlecloudplatform|gcr-io)\/spark-operator(\/controller)?$|(^|\/)spark-operator$/,
  },
  {
    name: "Volcano",
    leases: ["vc-controller-manager"],
    groups: ["batch.volcano.sh", "bus.volcano.sh", "scheduling.volcano.sh", "flow.volcano.sh"],
    image: /(^|\/)vc-controller-manager$/,
  },
];

/** An image without its tag and digest. */
const repositoryOf = (image: string): string => image.replace(/@.*$/, "").replace(/:[^/:]*$/, "");

const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => {
    if (Array.isArray(inner)) return inner[Number(name)];
    return isRecord(inner) ? inner[name] : undefined;
  }, value);

/**
 * True while somebody keeps a lease: it was renewed within its own duration, and some grace, before `now` by the
 * server's clock. A lease that nobody holds was given back.
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

export type Part = "controller" | "webhook";

/** What a workload is of an upstream, and by which image; one that only serves its webhooks decides nothing. */
export const partOf = (
  { image }: Upstream,
  workload: Obj,
): { readonly part: Part; readonly image: string } | undefined => {
  const containers = at(workload, "spec", "template", "spec", "containers");
  if (!Array.isArray(containers)) return undefined;
  const found = containers.flatMap((container): { part: Part; image: string }[] => {
    const text = at(container, "image");
    if (typeof text !== "string" || !image.test(repositoryOf(text))) return [];
    return [{ part: at(container, "args", "0") === "webhook" ? "webhook" : "controller", image: text }];
  });
  return found.find(({ part }) => part === "controller") ?? found[0];
};

const isMeantToRun = (deployment: Obj): boolean => at(deployment, "spec", "replicas") !== 0;

const placeOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** A controller at work writes now and then; one that was stopped has not for this long. */
const freshMs = 60_000;

/** Ourselves, and people at a terminal. */
const harmless = /^(rekindle|kubectl)/;

/** Who wrote this object's status a moment ago, and when; undefined when nobody did who could be a controller. */
const writerOf = (object: Stored, now: number): { readonly manager: string; readonly at: number } | undefined => {
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

/** One line when another controller writes the status of these objects: the newest such write, and how many there are. */
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

/** One line per sign that another controller is at work; empty when there is none. */
export const signsOf = (
  known: readonly Upstream[],
  seen: { readonly leases: readonly Stored[]; readonly deployments: readonly Stored[]; readonly now: number },
): readonly string[] =>
  known.flatMap((upstream) => [
    ...seen.leases
      .filter((lease) => upstream.leases.includes(lease.metadata.name) && isRenewed(lease, seen.now))
      .map((lease) => `${upstream.name} holds the lease ${placeOf(lease)}`),
    ...seen.deployments
      .filter((one) => isMeantToRun(one) && partOf(upstream, one)?.part === "controller")
      .map((one) => `${upstream.name} runs as the deployment ${placeOf(one)}`),
  ]);
