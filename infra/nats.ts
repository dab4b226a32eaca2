/** NATS for the overlay of infra/kubernetes: its server, the rights of its clients, and the scaling of its workers. */

import type { Obj } from "../shared/core/object.ts";
import { accountOf } from "../shared/installation/function-rights.ts";
import { containerSecurity, fenceOf, podSecurity } from "../shared/installation/objects.ts";
import { named, ourLabels } from "../shared/installation/roles.ts";

type Place = { readonly namespace: string };

/** The version that `npm run queue` tries. */
const natsImage = "nats:2.15.2";

/** Ports of NATS: of its clients, of its monitoring. */
export const natsPorts = { client: 4222, monitoring: 8222 } as const;

/** Name of the account within NATS, and of the Secret with the clients' nkeys. */
const natsAccount = "REKINDLE";
const natsName = accountOf("nats");

/** Streams of a queue, and the subjects that its clients need beside those of the streams. */
const ofQueue = (queue: string): readonly string[] => [
  `${queue}.>`,
  ...["", "-locks", "-dead"].flatMap((part) =>
    ["STREAM.INFO", "STREAM.CREATE"].map((what) => `$JS.API.${what}.${queue}${part}`),
  ),
  `$JS.API.CONSUMER.CREATE.${queue}.>`,
  `$JS.API.CONSUMER.INFO.${queue}.>`,
];

/** Subjects of workers: pulls, acknowledgements, and the ends of locks. */
const ofWorkers = (queue: string): readonly string[] => [
  `$JS.API.CONSUMER.MSG.NEXT.${queue}.>`,
  `$JS.API.STREAM.MSG.GET.${queue}-locks`,
  `$JS.API.STREAM.MSG.DELETE.${queue}-locks`,
  `$JS.ACK.${queue}.>`,
  // Acknowledgements of a server with domains.
  `$JS.ACK.*.*.${queue}.>`,
];

const natsQueues = ["rekindle-keys", "rekindle-updates"] as const;

const quoted = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(", ");

/** The server's configuration. A sync after each write costs a fraction of a millisecond, and outlives a machine. */
const natsConfiguration = (): string => `port: ${natsPorts.client}
http_port: ${natsPorts.monitoring}
jetstream {
  store_dir: /data
  max_file_store: 1G
  max_memory_store: 64M
  sync_interval: always
}
accounts {
  ${natsAccount} {
    jetstream: enabled
    users: [{
      nkey: $REKINDLE_NATS_USER
      permissions {
        publish: { allow: [${quoted(natsQueues.flatMap((queue) => [...ofQueue(queue), ...ofWorkers(queue)]))}] }
        subscribe: { allow: ["_INBOX.>", ${quoted(natsQueues.map((queue) => `${queue}.free`))}] }
      }
    }]
  }
}
`;

/** The server of NATS: one pod with a disk. */
export const natsServer = ({ namespace }: Place): readonly Obj[] => {
  const labels = { "app.kubernetes.io/name": natsName };
  const ports = [
    { name: "client", containerPort: natsPorts.client, protocol: "TCP" },
    { name: "monitoring", containerPort: natsPorts.monitoring, protocol: "TCP" },
  ];
  const health = { httpGet: { path: "/healthz", port: "monitoring" }, periodSeconds: 5, timeoutSeconds: 3 };
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: named(natsName, namespace),
      data: { "nats.conf": natsConfiguration() },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: named(natsName, namespace),
      spec: {
        clusterIP: "None",
        selector: labels,
        ports: ports.map(({ name, containerPort: port, protocol }) => ({ name, port, targetPort: name, protocol })),
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: named(natsName, namespace),
      spec: {
        serviceName: natsName,
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels: { ...ourLabels, ...labels } },
          spec: {
            serviceAccountName: natsName,
            enableServiceLinks: false,
            securityContext: { ...podSecurity, fsGroup: podSecurity.runAsGroup },
            containers: [
              {
                name: "nats",
                image: natsImage,
                command: ["nats-server", "--config", "/etc/nats/nats.conf"],
                envFrom: [{ secretRef: { name: natsName } }],
                ports,
                readinessProbe: health,
                livenessProbe: { ...health, periodSeconds: 30 },
                resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
                securityContext: containerSecurity,
                volumeMounts: [
                  { name: "configuration", mountPath: "/etc/nats", readOnly: true },
                  { name: "data", mountPath: "/data" },
                ],
              },
            ],
            volumes: [{ name: "configuration", configMap: { name: natsName } }],
          },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } } },
          },
        ],
      },
    },
    fenceOf(natsName, namespace, [natsPorts.client, natsPorts.monitoring]),
  ];
};

/**
 * Scales a worker by the messages that wait and that workers hold. KEDA looks every two seconds, and removes the last
 * pod when nothing was there for a minute.
 */
export const scaledByQueue = (what: string, stream: string, { namespace }: Place): Obj => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: named(accountOf(what), namespace),
  spec: {
    scaleTargetRef: { name: accountOf(what) },
    pollingInterval: 2,
    cooldownPeriod: 60,
    minReplicaCount: 0,
    maxReplicaCount: 4,
    triggers: [
      {
        type: "nats-jetstream",
        metadata: {
          natsServerMonitoringEndpoint: `${natsName}.${namespace}.svc.cluster.local:${natsPorts.monitoring}`,
          account: natsAccount,
          stream,
          consumer: "steps",
          lagThreshold: "100",
          activationLagThreshold: "0",
        },
      },
    ],
  },
});

/** The URL of the server within its cluster. */
export const natsUrlIn = ({ namespace }: Place): string =>
  `nats://${natsName}.${namespace}.svc.cluster.local:${natsPorts.client}`;
