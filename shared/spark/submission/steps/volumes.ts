/** Volumes that confs describe, and their claims on demand; as MountVolumesFeatureStep and KubernetesVolumeUtils. */
import type { Obj } from "../../../core/object.ts";
import type { Json } from "../../../kube/responses.ts";
import type { Conf, Texts } from "../../configuration/conf.ts";
import { below, flagOf } from "../../configuration/conf.ts";
import type { Role } from "../arguments/pod.ts";
import { withVolumes } from "../pods/pod.ts";
import type { Context, Contribution } from "./step.ts";

/** The role whose volumes are mounted, and the names of its claims on demand. */
export type Mounting = Pick<Context, "applicationId" | "conf" | "rules"> & {
  readonly role: Role;
  readonly claimName: (template: string, index: number) => string;
};

/** One volume: the confs below its `type.name.`. */
export type Asked = { readonly type: string; readonly name: string; readonly options: Texts };

/** Parses the volumes below a prefix, sorted by name: Spark's own order is that of a hash table. */
export const volumesIn = (conf: Conf, prefix: string): readonly Asked[] => {
  const volumes = new Map<string, Omit<Asked, "options"> & { readonly options: [string, string][] }>();
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
export const mountedTwice = (volumes: readonly Asked[]): readonly string[] => {
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

const claimOf = (context: Mounting, { options }: Asked, index: number): Claim => {
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

const sourceOf = (context: Mounting, asked: Asked, index: number): Claim => {
  const { options } = asked;
  const only = (source: Json): Claim => ({ source, objects: [] });
  switch (asked.type) {
    case "hostPath":
      return only({
        hostPath: {
          path: options["options.path"],
          type: (context.rules.richVolumes ? options["options.type"] : undefined) ?? "",
        },
      });
    case "persistentVolumeClaim":
      return claimOf(context, asked, index);
    case "nfs":
      return only({ nfs: { path: options["options.path"], server: options["options.server"] } });
    default: {
      const sizeLimit = options["options.sizeLimit"];
      const medium = options["options.medium"] ?? "";
      return only({ emptyDir: { medium, ...(sizeLimit === undefined ? {} : { sizeLimit }) } });
    }
  }
};

const mountOf = ({ rules }: Mounting, { name, options }: Asked): Json => ({
  name,
  mountPath: options["mount.path"],
  readOnly: isReadOnly(options),
  subPath: options["mount.subPath"] ?? "",
  ...(rules.richVolumes ? { subPathExpr: options["mount.subPathExpr"] ?? "" } : {}),
});

export const mounting = (context: Mounting): Contribution => {
  const all = volumesIn(context.conf, `spark.kubernetes.${context.role}.volumes.`).map((asked, index) => ({
    ...sourceOf(context, asked, index),
    name: asked.name,
    mount: mountOf(context, asked),
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
  mounting({
    ...context,
    role: "driver",
    claimName: (template, index) => template.replaceAll("OnDemand", `${context.identity.prefix}-driver-pvc-${index}`),
  });
