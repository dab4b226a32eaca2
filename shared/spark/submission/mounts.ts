/**
 * Volumes and mounts of an application that reach no pod: upstream's webhook ignores them silently, and the submission
 * does as well. This file reports each by its field.
 */
import { isRecord, type Json } from "../../kube/responses.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";

const roles = ["driver", "executor"] as const;
type Role = (typeof roles)[number];

const nameOf = (volume: Json): string => (typeof volume["name"] === "string" ? volume["name"] : "");

const quoted = (text: string): string => JSON.stringify(text);

const templateVolumes = (spec: SparkApplicationSpec, role: Role): readonly string[] => {
  const { template } = spec[role];
  const inner = isRecord(template) && isRecord(template["spec"]) ? template["spec"]["volumes"] : undefined;
  return Array.isArray(inner) ? inner.filter(isRecord).map(nameOf) : [];
};

const undeclared = (spec: SparkApplicationSpec, role: Role): readonly string[] => {
  const declared = new Set((spec.volumes ?? []).map(nameOf));
  const inTemplate = new Set(templateVolumes(spec, role));
  return (spec[role].volumeMounts ?? []).flatMap((mount, at) => {
    const name = nameOf(mount);
    if (declared.has(name)) return [];
    const path = typeof mount["mountPath"] === "string" ? mount["mountPath"] : "";
    const help = inTemplate.has(name)
      ? `it stands in spec.${role}.template alone: mount it there, or declare it in spec.volumes`
      : "declare it there, or correct the name";
    return [
      `spec.${role}.volumeMounts[${at}] is ignored: spec.volumes declares no volume ${quoted(name)}, so nothing is mounted at ${quoted(path)}; ${help}`,
    ];
  });
};

const repeated = ({ volumes = [] }: SparkApplicationSpec): readonly string[] => {
  const names = volumes.map(nameOf);
  return names.flatMap((name, at) => {
    const first = names.indexOf(name);
    return first === at
      ? []
      : [
          `spec.volumes[${at}] is ignored: spec.volumes[${first}] has the same name ${quoted(name)}, and the first one is used; give each volume a name of its own`,
        ];
  });
};

/** Volumes that a pod template's volume of the same name replaces; the mount is of the template's. */
const shadowed = (spec: SparkApplicationSpec, role: Role): readonly string[] => {
  const inTemplate = new Set(templateVolumes(spec, role));
  const mounted = new Set((spec[role].volumeMounts ?? []).map(nameOf));
  return (spec.volumes ?? []).flatMap((volume, at) => {
    const name = nameOf(volume);
    if (!inTemplate.has(name) || !mounted.has(name)) return [];
    return [
      `spec.volumes[${at}] is ignored in the ${role}: spec.${role}.template has a volume of the same name ${quoted(name)}, which is mounted in its place`,
    ];
  });
};

/** One sentence for each ignored volume or mount. */
export const ignoredVolumes = (spec: SparkApplicationSpec): readonly string[] => [
  ...repeated(spec),
  ...roles.flatMap((role) => [...undeclared(spec, role), ...shadowed(spec, role)]),
];
