/**
 * The names that a pod can resolve, kept in its /etc/hosts: itself, the API, and services with the addresses of their
 * pods.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { isTerminal, type Pod, type Service } from "./objects.ts";

export type View = {
  readonly pods: Iterable<Pod>;
  readonly services: Iterable<Service>;
  readonly apiAddress: string;
  /** Returns the address of a pod; the agent knows its own pods' addresses before the API does. */
  readonly addressOf: (pod: Pod) => string | undefined;
};

const domain = "cluster.local";

/**
 * Returns `name.namespace.svc` in all lengths; the shortest only within the namespace, as a pod's search path resolves
 * it.
 */
const forms = (name: string, namespace: string, from: string): readonly string[] => [
  `${name}.${namespace}.svc.${domain}`,
  `${name}.${namespace}.svc`,
  `${name}.${namespace}`,
  ...(namespace === from ? [name] : []),
];

const isSelected = (pod: Pod, service: Service): boolean =>
  pod.metadata.namespace === service.metadata.namespace &&
  Object.entries(service.spec.selector ?? {}).every(([key, value]) => pod.metadata.labels?.[key] === value);

/** A pod without a readiness probe serves from its first address on: executors resolve a driver before it is Ready. */
const isServing = (pod: Pod, service: Service): boolean => {
  if (isTerminal(pod)) return false;
  if (service.spec.publishNotReadyAddresses) return true;
  if (pod.spec.containers.every((container) => container.readinessProbe === undefined)) return true;
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
};

const serviceLines = (view: View, pods: readonly Pod[], from: string): string[] =>
  [...view.services].flatMap((service) => {
    if (Object.keys(service.spec.selector ?? {}).length === 0) return [];
    const { name, namespace } = service.metadata;
    return pods
      .filter((pod) => isSelected(pod, service) && isServing(pod, service))
      .flatMap((pod) => {
        const ip = view.addressOf(pod);
        if (ip === undefined) return [];
        const { hostname, subdomain } = pod.spec;
        const own = subdomain === name && hostname !== undefined ? forms(`${hostname}.${name}`, namespace, from) : [];
        return [[ip, ...forms(name, namespace, from), ...own].join(" ")];
      });
  });

export const hostsOf = (pod: Pod, ip: string, view: View): string => {
  const { name, namespace } = pod.metadata;
  const hostname = pod.spec.hostname ?? name;
  const { subdomain } = pod.spec;
  const full = subdomain === undefined ? [] : [`${hostname}.${subdomain}.${namespace}.svc.${domain}`];
  const aliases = (pod.spec.hostAliases ?? []).map((alias) => [alias.ip, ...(alias.hostnames ?? [])].join(" "));
  return [
    "127.0.0.1 localhost",
    [ip, ...full, hostname].join(" "),
    [view.apiAddress, ...forms("kubernetes", "default", namespace)].join(" "),
    ...aliases,
    ...serviceLines(view, [...view.pods], namespace),
    "",
  ].join("\n");
};

const contentOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

/**
 * Writes in place, since containers mount the file itself; in one write that is no shorter than before, so that no
 * reader sees half a line.
 */
export const writeHosts = (file: string, text: string): void => {
  const before = contentOf(file);
  if (before.trimEnd() === text.trimEnd() && before !== "") return;
  const descriptor = openSync(file, before === "" ? "w" : "r+", 0o644);
  try {
    const whole = text.padEnd(before.length, "\n");
    writeSync(descriptor, whole, 0);
    ftruncateSync(descriptor, Buffer.byteLength(whole));
  } finally {
    closeSync(descriptor);
  }
};
