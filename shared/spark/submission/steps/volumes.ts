/** Volumes that confs describe, their claims on demand, their errors, and scratch space; as MountVolumesFeatureStep,
 * KubernetesVolumeUtils and LocalDirsFeatureStep. */

import type { Obj } from "../../../core/object.ts";
import type { Json } from "../../../kube/responses.ts";
import { below, type Conf, flagOf, type Texts } from "../../configuration/conf.ts";
import type { Rules } from "../../configuration/versions.ts";
import type { Role } from "../arguments/pod.ts";
import { type SparkPod, withEnv, withVolume, withVolumes } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

/** The role whose volumes are mounted, and the names of its claims on demand. */
type Mounting = Pick<Context, "applicationId" | "conf" | "rules"> & {
  readonly role: Role;
  readonly claimName: (template: string, index: number) => string;
};

/** One volume: the confs below its `type.name.`. */
type VolumeConf = { readonly type: string; readonly name: string; readonly options: Texts };

/** Parses the volumes below a prefix, sorted by name: Spark's own order is that of a hash table. */
export const volumesIn = (conf: Conf, prefix: string): readonly VolumeConf[] => {
  const volumes = new Map<string, Omit<VolumeConf, "options"> & { readonly options: [string, string][] }>();
  for (const [key, value] of Object.entries(below(conf, prefix))) {
    const [type = "", name, ...rest] = key.split(".");
    if (name === undefined) continue;
    const known = volumes.get(`${type}.${name}`) ?? { type, name, options: [] };
    if (rest.length > 0) known.options.push([rest.join("."), value]);
    volumes.set(`${type}.${name}`, known);
  }
  return [...volumes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { type, name, options }]) => ({ type, name, options: Object.fromEntries(options) }));
};

/** Paths at which more than one volume is mounted, each once. */
export const mountedTwice = (volumes: readonly VolumeConf[]): readonly string[] => {
  const [seen, twice] = [new Set<string>(), new Set<string>()];
  for (const { options } of volumes) {
    const path = options["mount.path"];
    if (path !== undefined && seen.has(path)) twice.add(path);
    if (path !== undefined) seen.add(path);
  }
  return [...twice];
};

const isReadOnly = (options: Texts): boolean => options["mount.readOnly"]?.toLowerCase() === "true";

type Claim = { readonly source: Json; readonly objects: readonly Obj[] };

const perNode = ({ conf, rules }: Mounting): boolean => {
  const key = "spark.kubernetes.legacy.useReadWriteOnceAccessMode";
  return conf.has(key) ? flagOf(conf, key) : rules.claimsPerNode;
};

const claimOf = (context: Mounting, { options }: VolumeConf, index: number): Claim => {
  const claimName = context.claimName(options["options.claimName"] ?? "", index);
  const source = { persistentVolumeClaim: { claimName, readOnly: isReadOnly(options) } };
  const storageClassName = options["options.storageClass"];
  const storage = options["options.sizeLimit"];
  if (storageClassName === undefined || storage === undefined) return { source, objects: [] };
  const rich = context.rules.richVolumes;
  const given = new Map(Object.entries(options));
  const annotations = rich ? below(given, "annotation.") : {};
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: claimName,
      labels: { ...(rich ? below(given, "label.") : {}), "spark-app-selector": context.applicationId },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      storageClassName,
      accessModes: [perNode(context) ? "ReadWriteOnce" : "ReadWriteOncePod"],
      resources: { requests: { storage } },
    },
  };
  return { source, objects: [claim] };
};

const sourceOf = (context: Mounting, volume: VolumeConf, index: number): Claim => {
  const { options } = volume;
  const only = (source: Json): Claim => ({ source, objects: [] });
  switch (volume.type) {
    case "hostPath":
      return only({
        hostPath: {
          path: options["options.path"],
          type: (context.rules.richVolumes ? options["options.type"] : undefined) ?? "",
        },
      });
    case "persistentVolumeClaim":
      return claimOf(context, volume, index);
    case "nfs":
      return only({ nfs: { path: options["options.path"], server: options["options.server"] } });
    default: {
      const sizeLimit = options["options.sizeLimit"];
      const medium = options["options.medium"] ?? "";
      return only({ emptyDir: { medium, ...(sizeLimit === undefined ? {} : { sizeLimit }) } });
    }
  }
};

const mountOf = ({ rules }: Mounting, { name, options }: VolumeConf): Json => ({
  name,
  mountPath: options["mount.path"],
  readOnly: isReadOnly(options),
  subPath: options["mount.subPath"] ?? "",
  ...(rules.richVolumes ? { subPathExpr: options["mount.subPathExpr"] ?? "" } : {}),
});

export const mountVolumes = (context: Mounting): Contribution => {
  const all = volumesIn(context.conf, `spark.kubernetes.${context.role}.volumes.`).map((volume, index) => ({
    ...sourceOf(context, volume, index),
    name: volume.name,
    mount: mountOf(context, volume),
  }));
  return {
    pod: (pod) =>
      withVolumes(
        pod,
        all.map(({ name, source, mount }) => ({ volume: { name, ...source }, mount })),
      ),
    objects: all.flatMap(({ objects }) => objects),
  };
};

export const volumes = (context: Context): Contribution =>
  mountVolumes({
    ...context,
    role: "driver",
    claimName: (template, index) => template.replaceAll("OnDemand", `${context.identity.prefix}-driver-pvc-${index}`),
  });

const required: Readonly<Record<string, readonly string[]>> = {
  hostPath: ["options.path"],
  persistentVolumeClaim: ["options.claimName"],
  nfs: ["options.path", "options.server"],
  emptyDir: [],
};

const missing = (volume: VolumeConf): readonly string[] => {
  const options = required[volume.type];
  if (options === undefined) {
    return [`Kubernetes Volume type \`${volume.type}\` is not supported: use ${Object.keys(required).join(", ")}`];
  }
  return ["mount.path", ...options]
    .filter((option) => volume.options[option] === undefined)
    .map((option) => `${volume.type}.${volume.name}.${option} is required for ${volume.type}`);
};

const unclear = ({ type, name, options }: VolumeConf): readonly string[] => {
  const size = options["options.sizeLimit"];
  const small = size !== undefined && /^\d*$/.test(size) && Number(size) < 1024;
  const both = options["mount.subPath"] !== undefined && options["mount.subPathExpr"] !== undefined;
  return [
    ...(both ? [`${type}.${name}: mount.subPath and mount.subPathExpr are mutually exclusive`] : []),
    ...(small && ["persistentVolumeClaim", "emptyDir"].includes(type)
      ? [`${type}.${name}: Volume size \`${size}\` is smaller than 1KiB. Missing units?`]
      : []),
  ];
};

const unread = ({ type, name, options }: VolumeConf): readonly string[] =>
  /^(true|false)?$/i.test(options["mount.readOnly"] ?? "")
    ? []
    : [`${type}.${name}.mount.readOnly: for this input string only true or false can stand`];

/** Paths mounted twice. Spark checks them only while it builds a pod: the driver's at submission, executors' later. */
const twice = (all: readonly VolumeConf[]): readonly string[] =>
  mountedTwice(all).map((path) => `Found duplicated mountPath: '${path}'`);

/** Errors of volumes in confs, reported before the driver exists, for its executors' volumes too. */
export const wrongVolumes = (conf: Conf, prefix: string, rules: Rules): readonly string[] => {
  const all = volumesIn(conf, prefix);
  return [
    ...all.flatMap(missing),
    ...all.flatMap(unread),
    ...(rules.richVolumes ? all.flatMap(unclear) : []),
    ...(prefix.includes(".driver.") ? twice(all) : []),
  ];
};

const prefix = "spark-local-dir-";

/** The scratch volumes that are mounted already, in their order; Spark's order is random. */
const mountedIn = (pod: SparkPod): readonly string[] =>
  (pod.container.volumeMounts ?? []).flatMap((mount) =>
    `${mount["name"]}`.startsWith(prefix) ? [`${mount["mountPath"]}`] : [],
  );

const withFolders = (pod: SparkPod, folders: readonly string[], inMemory: boolean): SparkPod =>
  folders.reduce((before, mountPath, at) => {
    const name = `${prefix}${at + 1}`;
    return withVolume(before, { name, emptyDir: inMemory ? { medium: "Memory" } : {} }, { name, mountPath });
  }, pod);

/** Adds scratch space. `folders`: comma-separated paths, which get volumes when none is mounted. */
export const scratchOf = (conf: Conf, folders: string): Contribution => ({
  pod: (pod) => {
    const mounted = mountedIn(pod);
    const inMemory = flagOf(conf, "spark.kubernetes.local.dirs.tmpfs");
    const ready = mounted.length === 0 ? withFolders(pod, folders.split(","), inMemory) : pod;
    const value = mounted.length === 0 ? folders : mounted.join(",");
    return withEnv(ready, [{ name: "SPARK_LOCAL_DIRS", value }]);
  },
});

export const localDirs = ({ conf, identity, machine }: Context): Contribution =>
  scratchOf(conf, machine.localDirs ?? conf.get("spark.local.dir") ?? identity.localDir);
