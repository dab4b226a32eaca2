/**
 * The needs of a pod on a node: its requests, and the host ports of its containers. A host port is counted as a resource of
 * which each node has one, so that planning knows nothing of ports. As kube-scheduler's NodePorts, but an address (`hostIP`)
 * counts as all addresses: a plan is never wrong for that, and a group may wait that would have a place.
 */

import { type Amounts, requestsOf } from "../../kube/pod-usage.ts";
import type { Json } from "../../kube/responses.ts";
import { containersIn } from "../schema/spec.ts";

const one = { nano: 1_000_000_000n, format: "decimal" } as const;

/** No resource has a blank in its name, so none is taken for a port. */
const portPrefix = "host port ";

export const isPort = (name: string): boolean => name.startsWith(portPrefix);

const isNumber = (value: unknown): value is number => typeof value === "number" && value > 0;

/** Returns the host ports of a pod, as `host port TCP/80`. On the host's network each container port is one. */
export const hostPortsOf = (spec: Json): readonly string[] => {
  const inits = containersIn(spec, "initContainers").filter(({ restartPolicy }) => restartPolicy === "Always");
  const ports = [...containersIn(spec), ...inits].flatMap((container) => containersIn(container, "ports"));
  const names = ports.flatMap(({ hostPort, containerPort, protocol = "TCP" }) => {
    const port = isNumber(hostPort) ? hostPort : spec["hostNetwork"] === true ? containerPort : undefined;
    return isNumber(port) ? [`${portPrefix}${String(protocol)}/${port}`] : [];
  });
  return [...new Set(names)];
};

/** Returns what one pod takes of its node. */
export const needsOf = (spec: Json): Amounts =>
  new Map([...requestsOf(spec), ...hostPortsOf(spec).map((name) => [name, one] as const)]);

/** Returns what is free of a need, billionths; undefined if the node does not have it at all. */
export const freeOf = (free: ReadonlyMap<string, bigint>, name: string): bigint | undefined =>
  free.get(name) ?? (isPort(name) ? one.nano : undefined);

/** Takes the needs of pods in place. */
export const take = (free: Map<string, bigint>, needs: Amounts, count = 1): void => {
  for (const [name, { nano }] of needs) {
    const left = freeOf(free, name);
    if (left !== undefined) free.set(name, left - nano * BigInt(count));
  }
};

/** Returns a spec with the ports of another that count, and nothing else. */
export const portsOutline = (spec: Json, most: number): Json => {
  const ports = hostPortsOf(spec)
    .slice(0, most)
    .map((name) => {
      const [protocol = "", port] = name.slice(portPrefix.length).split("/");
      return { protocol, hostPort: Number(port) };
    });
  return ports.length === 0 ? {} : { containers: [{ ports }] };
};
