/** Functions as containers, for `infra/kubernetes` and the chart, beside the installation of the host. */

import type { Obj } from "../shared/core/object.ts";
import { accountOf, functionGrants } from "../shared/installation/function-rights.ts";
import {
  admissionPort,
  admissionService,
  admissionVariables,
  containerSecurity,
  deploymentOf,
  fenceOf,
  podSecurity,
  probes,
  serviceOf,
  sized,
} from "../shared/installation/objects.ts";
import { named, ourLabels } from "../shared/installation/roles.ts";
import { natsPorts, natsServer, natsUrlIn, scaledByQueue } from "./nats.ts";
import { settingsMap } from "./settings-maps.ts";

export type Place = { readonly namespace: string; readonly image: string };

/** Whether a function of the cluster serves admission and registers it. */
type WithAdmission = { readonly admission: boolean };

const withoutAdmission: WithAdmission = { admission: false };

/** Name of the ConfigMap of settings, and of the Secret with those that are secret. */
const settings = "rekindle-functions";

const environment = [
  { name: "REKINDLE_CLUSTER_RECORD", value: "in-cluster" },
  { name: "REKINDLE_LISTEN", value: "0.0.0.0:8080" },
];

/** Runs the file that Lambda loads. It is no entry point of the image. */
const command = (what: string): readonly string[] => ["node", `/app/dist/${what}.mjs`];

const port = { name: "http", containerPort: 8080, protocol: "TCP" };

/** The functions' settings, and secret ones in a Secret of the same name. */
const settingsFrom = [{ configMapRef: { name: settings } }, { secretRef: { name: settings, optional: true } }];

const container = (what: string, { image }: Place) => ({
  name: what,
  image,
  command: command(what),
  env: environment,
  envFrom: settingsFrom,
  ports: [port],
  ...probes,
  resources: sized("96Mi", "384Mi"),
  securityContext: containerSecurity,
});

/** A function that runs until it is stopped. Two replicas at once are harmless. */
const running = (what: string, place: Place): readonly Obj[] => {
  const { namespace } = place;
  const name = accountOf(what);
  const base = { name, namespace, account: name, strategy: "RollingUpdate" } as const;
  return [deploymentOf({ ...base, container: container(what, place) }), fenceOf(name, namespace, [8080])];
};

/** An account without rights, for a function that needs no access to the cluster. */
const bareAccount = (what: string, namespace: string): Obj => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: named(accountOf(what), namespace),
  automountServiceAccountToken: false,
});

/** The command of a scheduled function: calls the handler once and exits. */
const once = (what: string): readonly string[] => [
  ...["node", "--input-type=module", "--eval"],
  `const { handler } = await import("/app/dist/${what}.mjs"); await handler({ id: process.env.HOSTNAME }); process.exit(0);`,
];

const scheduled = (what: string, schedule: string, place: Place): Obj => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: named(accountOf(what), place.namespace),
  spec: {
    schedule,
    concurrencyPolicy: "Forbid",
    startingDeadlineSeconds: 120,
    successfulJobsHistoryLimit: 1,
    failedJobsHistoryLimit: 3,
    jobTemplate: {
      spec: {
        backoffLimit: 0,
        activeDeadlineSeconds: 240,
        ttlSecondsAfterFinished: 3600,
        template: {
          metadata: { labels: { ...ourLabels, "app.kubernetes.io/name": accountOf(what) } },
          spec: {
            serviceAccountName: accountOf(what),
            restartPolicy: "Never",
            enableServiceLinks: false,
            securityContext: podSecurity,
            containers: [
              {
                name: what,
                image: place.image,
                command: once(what),
                env: environment.slice(0, 1),
                envFrom: settingsFrom,
                resources: sized("96Mi", "384Mi"),
                securityContext: containerSecurity,
              },
            ],
          },
        },
      },
    },
  },
});

type Serving = { readonly containerConcurrency: number; readonly timeoutSeconds: number };

const usualServing: Serving = { containerConcurrency: 50, timeoutSeconds: 30 };

/** A function behind HTTP: requests start its pods, and idle pods are removed. */
const served = (what: string, place: Place, { containerConcurrency, timeoutSeconds } = usualServing): Obj => ({
  apiVersion: "serving.knative.dev/v1",
  kind: "Service",
  metadata: named(accountOf(what), place.namespace),
  spec: {
    template: {
      metadata: {
        labels: { ...ourLabels, "app.kubernetes.io/name": accountOf(what) },
        annotations: { "autoscaling.knative.dev/min-scale": "0", "autoscaling.knative.dev/max-scale": "10" },
      },
      spec: {
        serviceAccountName: accountOf(what),
        enableServiceLinks: false,
        containerConcurrency,
        timeoutSeconds,
        containers: [
          {
            name: what,
            image: place.image,
            command: command(what),
            env: environment,
            envFrom: settingsFrom,
            ports: [{ containerPort: port.containerPort }],
            readinessProbe: { httpGet: { path: "/healthz" } },
            resources: sized("96Mi", "384Mi"),
            securityContext: {
              ...containerSecurity,
              runAsNonRoot: podSecurity.runAsNonRoot,
              runAsUser: podSecurity.runAsUser,
              seccompProfile: podSecurity.seccompProfile,
            },
          },
        ],
      },
    },
  },
});

/** Name of the Secret with the submitter's certificate (`tls.crt`, `tls.key`) and its clients' authority (`ca.crt`). */
const submitterSecret = "rekindle-submitter";

const folder = "/certificates";

/** A kubelet has no certificate that the submitter accepts, so it probes the connection only. */
const connects = { tcpSocket: { port: "https" }, timeoutSeconds: 3 };

/**
 * Takes submissions over mutual TLS, and does not start without a certificate: so it begins with no replica, until the
 * Secret exists.
 */
const submitting = (place: Place): readonly Obj[] => {
  const { namespace } = place;
  const name = accountOf("submitter");
  const { ports, startupProbe, livenessProbe, readinessProbe, ...plain } = container("submitter", place);
  const secure = {
    ...plain,
    env: [
      ...environment.slice(0, 1),
      { name: "REKINDLE_LISTEN", value: "0.0.0.0:8443" },
      { name: "REKINDLE_TLS_CERT_FILE", value: `${folder}/tls.crt` },
      { name: "REKINDLE_TLS_KEY_FILE", value: `${folder}/tls.key` },
      { name: "REKINDLE_TLS_CLIENT_CA_FILE", value: `${folder}/ca.crt` },
    ],
    ports: [{ name: "https", containerPort: 8443, protocol: "TCP" }],
    livenessProbe: { ...connects, periodSeconds: livenessProbe.periodSeconds },
    readinessProbe: { ...connects, periodSeconds: readinessProbe.periodSeconds },
    volumeMounts: [{ name: "certificates", mountPath: folder, readOnly: true }],
  };
  const volumes = [{ name: "certificates", secret: { secretName: submitterSecret } }];
  const strategy = "RollingUpdate";
  return [
    deploymentOf({ name, namespace, account: name, strategy, replicas: 0, container: secure, volumes }),
    serviceOf(name, namespace, { name: "https", port: 443 }),
    fenceOf(name, namespace, [8443]),
  ];
};

/** The ports of Knative's activator, its gateways and its pods, to which a call may lead. */
const knativePorts = [80, 8012, 8080, 8081];

/** The URL of a Knative Service within its cluster. */
const urlOf = (what: string, { namespace }: Place): string =>
  `http://${accountOf(what)}.${namespace}.svc.cluster.local/`;

/** The time limit of a call: that of a step, and the 40 s that the dispatcher adds. */
const callSeconds = 60;

/** Two dispatchers at once are harmless: one of them holds the lease. Each of them serves admission, if any does. */
const dispatching = (place: Place, { admission }: WithAdmission): readonly Obj[] => {
  const { namespace } = place;
  const name = accountOf("dispatch");
  const base = { name, namespace, account: name, strategy: "RollingUpdate" } as const;
  // A standby is not ready, and a rolling update would wait for it for ever.
  const { readinessProbe, ports, ...plain } = container("dispatch", place);
  const ready = { ...readinessProbe, httpGet: { ...readinessProbe.httpGet, path: "/healthz" } };
  const open = admission ? [...ports, admissionPort] : ports;
  return [
    deploymentOf({ ...base, container: { ...plain, ports: open, readinessProbe: ready } }),
    serviceOf(name, namespace),
    ...(admission ? [admissionService(namespace, name)] : []),
    fenceOf(
      name,
      namespace,
      open.map(({ containerPort }) => containerPort),
      knativePorts,
    ),
  ];
};

/** Alive and ready while it answers over HTTPS: a kubelet accepts a certificate of an authority that it does not know. */
const admissionProbe = { httpGet: { path: "/healthz", port: admissionPort.name, scheme: "HTTPS" }, timeoutSeconds: 3 };

/** The admission function as a process that makes its certificate and registers itself. */
const admitting = (place: Place): readonly Obj[] => {
  const { namespace } = place;
  const name = accountOf("admission");
  const { env, ports, startupProbe, livenessProbe, readinessProbe, ...plain } = container("admission", place);
  const secure = {
    ...plain,
    env: env.slice(0, 1),
    ports: [admissionPort],
    livenessProbe: { ...admissionProbe, periodSeconds: livenessProbe.periodSeconds },
    readinessProbe: { ...admissionProbe, periodSeconds: readinessProbe.periodSeconds },
  };
  return [
    deploymentOf({ name, namespace, account: name, strategy: "RollingUpdate", container: secure }),
    admissionService(namespace, name),
    fenceOf(name, namespace, [admissionPort.containerPort]),
  ];
};

/** Settings of all functions, for the user to change: queues first. */
const settingsOf = (namespace: string, given: Readonly<Record<string, string>> = {}): Obj =>
  settingsMap("functionsOverlay", {
    name: settings,
    namespace,
    given: {
      ...given,
      AWS_REGION: "eu-west-1",
      REKINDLE_FIFO_URL: "https://sqs.eu-west-1.amazonaws.com/000000000000/rekindle-keys.fifo",
      REKINDLE_DELAY_URL: "https://sqs.eu-west-1.amazonaws.com/000000000000/rekindle-timers",
      REKINDLE_UPDATES_URL: "https://sqs.eu-west-1.amazonaws.com/000000000000/rekindle-updates.fifo",
      REKINDLE_HOME: namespace,
    },
  });

/** The forwarder in the cluster; the other functions run outside, as members of the groups `rekindle:NAME`. */
export const besideLambda = (place: Place): readonly Obj[] => [
  ...functionGrants({ ...place, functions: ["forward", "reconcile", "resync", "deliver", "api", "admission"] }),
  settingsOf(place.namespace),
  ...running("forward", place),
];

/** All functions in the cluster: HTTP functions scale with their requests, functions that poll a queue keep running. */
export const onKnative = (place: Place, { admission } = withoutAdmission): readonly Obj[] => [
  ...functionGrants({
    ...place,
    admission,
    functions: [
      ...["forward", "reconcile", "resync", "deliver", "api"],
      ...(admission ? ["admission"] : []),
      "submitter",
    ],
  }),
  bareAccount("wake", place.namespace),
  settingsOf(place.namespace, admission ? admissionVariables(place.namespace) : {}),
  ...["forward", "reconcile", "wake", "deliver"].flatMap((what) => running(what, place)),
  scheduled("resync", "*/5 * * * *", place),
  fenceOf(accountOf("resync"), place.namespace, []),
  bareAccount("bell", place.namespace),
  ...["api", "bell"].map((what) => served(what, place)),
  ...(admission ? admitting(place) : []),
  ...submitting(place),
];

/** The dispatcher, and the functions that it calls. */
export const dispatched = ["dispatch", "reconcile", "deliver"] as const;

/** A dispatcher with the queue inside, and functions that it calls: they run only while they are called. */
export const onDispatch = (place: Place, { admission } = withoutAdmission): readonly Obj[] => [
  ...functionGrants({ ...place, admission, functions: dispatched }),
  settingsMap("functionsOverlay", {
    name: settings,
    namespace: place.namespace,
    given: {
      ...(admission ? admissionVariables(place.namespace) : {}),
      REKINDLE_CALL_URLS: ["reconcile", "deliver"].map((what) => `${what}=${urlOf(what, place)}`).join(","),
      REKINDLE_HOME: place.namespace,
    },
  }),
  ...dispatching(place, { admission }),
  ...["reconcile", "deliver"].map((what) =>
    served(what, place, { containerConcurrency: 10, timeoutSeconds: callSeconds }),
  ),
];

/** A function whose queue is on NATS. */
const onQueue = (what: string, place: Place): readonly Obj[] => {
  const { namespace } = place;
  const name = accountOf(what);
  const base = { name, namespace, account: name, strategy: "RollingUpdate" } as const;
  return [
    deploymentOf({ ...base, container: container(what, place) }),
    fenceOf(name, namespace, [8080], [natsPorts.client]),
  ];
};

/** NATS in the cluster, functions that send to it, and workers that run while messages wait there. */
export const onNats = (place: Place, { admission } = withoutAdmission): readonly Obj[] => [
  ...functionGrants({
    ...place,
    admission,
    functions: [...["forward", "reconcile", "resync", "deliver", "api"], ...(admission ? ["admission"] : [])],
  }),
  settingsMap("functionsOverlay", {
    name: settings,
    namespace: place.namespace,
    given: {
      ...(admission ? admissionVariables(place.namespace) : {}),
      REKINDLE_NATS_URL: natsUrlIn(place),
      REKINDLE_HOME: place.namespace,
    },
  }),
  bareAccount("nats", place.namespace),
  ...natsServer(place),
  ...["forward", "reconcile", "deliver", "api"].flatMap((what) => onQueue(what, place)),
  serviceOf(accountOf("api"), place.namespace),
  ...(admission ? admitting(place) : []),
  scheduled("resync", "*/5 * * * *", place),
  fenceOf(accountOf("resync"), place.namespace, [], [natsPorts.client]),
  scaledByQueue("reconcile", "rekindle-keys", place),
  scaledByQueue("deliver", "rekindle-updates", place),
];
