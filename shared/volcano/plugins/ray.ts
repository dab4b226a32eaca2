/** `ray`: the head's and the workers' commands, the head's ports, and a service in front of it. */

import { services } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { type Draft, inContainers, withPort } from "../pods/draft.ts";
import { firstDomain, ownerReference } from "../pods/names.ts";
import { keys } from "../schema/resource.ts";
import { flagsOf } from "./flags.ts";
import { type Plugin, type Scope, taskNamed, taskOf } from "./plugin.ts";

const flags = {
  head: "head",
  headContainer: "head",
  worker: "worker",
  workerContainer: "worker",
  port: 6379,
  dashboardPort: 8265,
  clientPort: 10001,
} as const;

type Read = ReturnType<typeof read>;

const read = (args: readonly string[]) => flagsOf(args, flags);

const portsOf = ({ port, dashboardPort, clientPort }: Read): readonly (readonly [string, number])[] => [
  ["gcs", port],
  ["dashboard", dashboardPort],
  ["client-server", clientPort],
];

const asHead = (container: Json, asked: Read): Json => {
  const opened = portsOf(asked).reduce((before, [name, number]) => withPort(before, name, number), container);
  const { port, dashboardPort, clientPort } = asked;
  const options = `--port=${port} --dashboard-port=${dashboardPort} --ray-client-server-port=${clientPort}`;
  return { ...opened, command: ["sh", "-c", `ray start --head --block --dashboard-host=0.0.0.0 ${options}`] };
};

const asWorker = (container: Json, address: string): Json => ({
  ...container,
  command: ["sh", "-c", `ray start --block --address=${address}`],
});

const onPod = (draft: Draft, scope: Scope, args: readonly string[]): Draft => {
  const asked = read(args);
  const head = taskNamed(scope, asked.head);
  if (head === undefined) return draft;
  const address = `${firstDomain(scope.owner.name, head)}:${asked.port}`;
  const task = taskOf(draft);
  return inContainers(draft, (container) => {
    if (task === asked.head && container["name"] === asked.headContainer) return asHead(container, asked);
    const works = task === asked.worker && container["name"] === asked.workerContainer;
    return works ? asWorker(container, address) : container;
  });
};

export const ray: Plugin = {
  flags,
  noted: true,
  onPod,
  refuses: (scope, args) => {
    const { head } = read(args);
    return taskNamed(scope, head) === undefined ? `job ${scope.owner.name} doesn't have head task ${head}` : undefined;
  },
  objects: ({ owner }, args) => {
    const asked = read(args);
    const ports = portsOf(asked).map(([name, port]) => ({ name, port, targetPort: name, protocol: "TCP" }));
    const selector = {
      [keys.jobName]: owner.name,
      [keys.jobNamespace]: owner.namespace,
      [keys.taskSpec]: asked.head,
    };
    const metadata = {
      name: `${owner.name}-head-svc`,
      namespace: owner.namespace,
      ownerReferences: [ownerReference(owner)],
    };
    return [{ resource: services, object: { apiVersion: "v1", kind: "Service", metadata, spec: { selector, ports } } }];
  },
};
