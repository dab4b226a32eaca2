/** Volumes named `spark-local-dir-…` become confs, because Spark itself uses them as scratch space. */
import type { Json } from "../../../kube/responses.ts";
import { isRecord } from "../../../kube/responses.ts";
import type { SparkApplicationSpec } from "../../schema/application.ts";
import type { Pair } from "./pairs.ts";
import { given } from "./pairs.ts";
import type { Role } from "./pod.ts";

export const isScratch = (name: unknown): boolean => typeof name === "string" && name.startsWith("spark-local-dir-");

const kinds = ["hostPath", "emptyDir", "nfs", "persistentVolumeClaim"] as const;

const optionNames: Readonly<Record<(typeof kinds)[number], readonly string[]>> = {
  hostPath: ["path", "type"],
  emptyDir: ["medium", "sizeLimit"],
  nfs: ["path", "server", "readOnly"],
  persistentVolumeClaim: ["claimName", "readOnly"],
};

const plain = (value: unknown): string | undefined => {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value === "number") return `${value}`;
  return value === true ? "true" : undefined;
};

const confsOf = (role: Role, volume: Json, mount: Json): Pair[] => {
  const kind = kinds.find((name) => isRecord(volume[name]));
  if (kind === undefined) return [];
  const source = volume[kind];
  const prefix = `spark.kubernetes.${role}.volumes.${kind}.${volume["name"]}.`;
  return [
    ...given(`${prefix}mount.path`, plain(mount["mountPath"])),
    ...given(`${prefix}mount.subPath`, plain(mount["subPath"])),
    ...given(`${prefix}mount.readOnly`, plain(mount["readOnly"])),
    ...optionNames[kind].flatMap((name) =>
      given(`${prefix}options.${name}`, isRecord(source) ? plain(source[name]) : undefined),
    ),
  ];
};

const pairsOf = (role: Role, spec: SparkApplicationSpec): readonly (readonly [volume: Json, mount: Json])[] =>
  (spec[role].volumeMounts ?? []).flatMap((mount) => {
    const volume = spec.volumes?.find(({ name }) => name === mount["name"]);
    return volume !== undefined && isScratch(volume["name"]) ? [[volume, mount] as const] : [];
  });

export const scratch = (role: Role, spec: SparkApplicationSpec): Pair[] =>
  pairsOf(role, spec).flatMap(([volume, mount]) => confsOf(role, volume, mount));

/** Scratch volumes of types that Spark's confs cannot express. */
export const wrongScratch = (spec: SparkApplicationSpec): readonly string[] =>
  [...pairsOf("driver", spec), ...pairsOf("executor", spec)]
    .filter(([volume]) => !kinds.some((kind) => isRecord(volume[kind])))
    .map(([volume]) => `spec.volumes: unsupported volume type of ${volume["name"]}: use ${kinds.join(", ")}`);
