/** The names in an object that the API server checks: its own, its labels', and those of a pod's volumes, host and claims. */
import { isRecord } from "../../shared/core/json.ts";
import type { Obj } from "../../shared/core/object.ts";
import { labelErrors, qualifiedNameErrors, subdomainErrors } from "../../shared/kube/names.ts";

/** Services' names are labels of DNS; those of other objects are subdomains. */
const ownErrors = ({ kind, metadata: { name = "" } }: Obj): readonly string[] =>
  (kind === "Service" ? labelErrors : subdomainErrors)(name);

const listIn = (value: unknown, field: string): readonly Readonly<Record<string, unknown>>[] => {
  const list = isRecord(value) ? value[field] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
};

const namesIn = (list: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  list.map(({ name }) => `${name}`);

const podErrors = (spec: unknown): readonly string[] => {
  const containers = [...listIn(spec, "containers"), ...listIn(spec, "initContainers")];
  const volumes = listIn(spec, "volumes");
  const mounts = containers.flatMap((one) => namesIn(listIn(one, "volumeMounts")));
  const { hostname, subdomain } = isRecord(spec) ? spec : {};
  const hosts = [hostname, subdomain].filter((one) => typeof one === "string");
  const claims = volumes.map(({ persistentVolumeClaim: claim }) => (isRecord(claim) ? claim["claimName"] : undefined));
  return [
    ...[...namesIn(volumes), ...namesIn(containers), ...hosts].flatMap(labelErrors),
    ...claims.flatMap((claim) => (typeof claim === "string" ? subdomainErrors(claim) : [])),
    ...mounts.filter((name) => !namesIn(volumes).includes(name)).map((name) => `no volume ${name}`),
  ];
};

/** The errors of all names in an object, each with the object's kind and name; empty: the API server takes them. */
export const nameErrorsIn = (object: Obj): readonly string[] =>
  [
    ...ownErrors(object),
    ...Object.values(object.metadata.labels ?? {}).flatMap((value) => (value === "" ? [] : qualifiedNameErrors(value))),
    ...(object.kind === "Pod" ? podErrors(object.spec) : []),
  ].map((error) => `${object.kind} ${object.metadata.name}: ${error}`);
