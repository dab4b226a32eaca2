/**
 * Another controller that leads without a lease, as Volcano's chart installs its own: its writes, and the judge that
 * steps write nothing beside it.
 *
 * B1. Nothing is written later than 75 s after it began; nothing at all if it ran when the application came. Sightings
 *     of it are recorded all the same.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import { type Swept, sweptOf } from "./kinds.ts";
import { home } from "./objects.ts";
import type { Oracle } from "./oracle.ts";
import { appName, type ControllerAction, namespace, type Scenario } from "./scenario.ts";

type Write = readonly [method: string, path: string, body?: object, agent?: string];

/** A controller as charts install it: image, labels of its pods, and user agent. */
type Installed = {
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly agent: string;
  /** The part of a status that it writes repeatedly. */
  readonly status: Readonly<Record<string, object>>;
};

const kubeflows: Installed = {
  image: "ghcr.io/kubeflow/spark-operator/controller:2.4.0",
  labels: { "app.kubernetes.io/name": "spark-operator", "app.kubernetes.io/component": "controller" },
  agent: "spark-operator/v2.4.0 (linux/amd64)",
  status: { executorState: { "other-exec-1": "RUNNING" } },
};

const volcanos: Installed = {
  image: "docker.io/volcanosh/vc-controller-manager:v1.13.0",
  labels: { app: "volcano-controller" },
  agent: "vc-controller-manager/v1.13.0 (linux/amd64)",
  status: { taskStatusCount: { "task-1": { phase: { Running: 1 } } } },
};

const installed = ({ group }: Swept): Installed => (group === "sparkoperator.k8s.io" ? kubeflows : volcanos);

const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
const pods = `/api/v1/namespaces/${namespace}/pods`;
const controller = "controllers";
/** Name of the object that it writes, which Rekindle leaves alone. */
const other = `${appName}-other`;

const container = ({ image }: Installed): object => ({ name: "controller", image, args: ["--leader-elect=false"] });

const deployment = (about: Installed): readonly Write[] => [
  [
    "POST",
    deployments,
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: controller, namespace },
      spec: {
        selector: { matchLabels: about.labels },
        template: { metadata: { labels: about.labels }, spec: { containers: [container(about)] } },
      },
    },
  ],
];

/** A pod without a node agent of the simulator: it is Ready from the beginning. */
const pod = (about: Installed): readonly Write[] => [
  [
    "POST",
    pods,
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: controller, namespace, labels: about.labels },
      spec: { containers: [container(about)], schedulingGates: [{ name: "example.com/elsewhere" }] },
    },
  ],
  [
    "PATCH",
    `${pods}/${controller}/status`,
    { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
  ],
];

/** Makes the server track the fields of an object. */
const tracked = ({ group, version }: Swept, now: number): object => ({
  metadata: {
    managedFields: [
      {
        ...{ manager: "kubectl", operation: "Update", apiVersion: `${group}/${version}` },
        ...{ time: new Date(now).toISOString().replace(/\.\d+/, ""), fieldsType: "FieldsV1" },
        fieldsV1: { "f:spec": {} },
      },
    ],
  },
});

const written = (now: number, swept: Swept, about: Installed): readonly Write[] => {
  const path = `/apis/${swept.group}/${swept.version}/namespaces/${namespace}/${swept.plural}/${other}`;
  const taken = Object.fromEntries(Object.keys(about.status).map((field) => [field, null]));
  const needed = about === kubeflows ? { driverInfo: {} } : {};
  return [
    ["PATCH", path, tracked(swept, now)],
    // The time of a share is that of its newest field, so the newest field must be another one.
    ["PATCH", `${path}/status`, { status: { ...needed, ...taken } }, about.agent],
    ["PATCH", `${path}/status`, { status: about.status }, about.agent],
  ];
};

/** The writes of the other controller at an instant. */
export const controllerWrites = (does: ControllerAction, scenario: Scenario, now: number): readonly Write[] => {
  const swept = sweptOf(scenario);
  const about = installed(swept);
  const shown = {
    deployment: () => deployment(about),
    pod: () => pod(about),
    writes: () => written(now, swept, about),
  };
  const gone = {
    deployment: [["DELETE", `${deployments}/${controller}`]],
    pod: [["DELETE", `${pods}/${controller}`]],
    writes: [],
  } as const;
  const by = scenario.beside?.by ?? "deployment";
  return does === "goes" ? gone[by] : shown[by]();
};

const boundMs = 75_000;
/** A controller that has written within this time is at work. */
const freshMs = 55_000;

type Facts = { violations: string[]; since: number | undefined; wroteAt: number | undefined };

const fresh = (): Facts => ({ violations: [], since: undefined, wroteAt: undefined });

const isSighting = ({ table, object }: Change): boolean =>
  table === "checkpoints.rekindle.dev" &&
  object.metadata.namespace === home &&
  object.metadata.name === "cursor.controllers";

const isReady = (object: Change["object"]): boolean => {
  const conditions = at(object, "status", "conditions");
  return Array.isArray(conditions) && conditions.some((one) => textAt(one, "type") === "Ready");
};

/** The judge of a scenario with another controller. */
export const apart = (judge: Oracle, about: Swept, facts: Facts = fresh()): Oracle => {
  /** Hears the Deployment and the pod; its writes to another object show it, too. */
  const hearShown = ({ type, table, object }: Change, now: number): void => {
    if (object.metadata.name !== controller) return;
    if (type === "DELETED") facts.since = undefined;
    else if (table === "deployments.apps" || isReady(object)) facts.since ??= now;
  };
  const hearWritten = ({ table, object }: Change, actor: string, now: number): void => {
    if (object.metadata.name === other && table === about.table && actor === "user") {
      facts.since ??= now;
      facts.wroteAt = now;
    }
    const isStale = facts.wroteAt !== undefined && now - facts.wroteAt > freshMs;
    if (isStale) Object.assign(facts, { since: undefined, wroteAt: undefined });
  };
  const hearSubject = ({ type, table, object }: Change): void => {
    const isNew = object.metadata.name === appName && table === about.table && type === "ADDED";
    if (isNew && facts.since !== undefined) facts.since = Number.NEGATIVE_INFINITY;
  };
  return {
    ...judge,
    hear: (change, actor, now) => {
      if (isSighting(change)) return;
      hearShown(change, now);
      hearWritten(change, actor, now);
      hearSubject(change);
      const { table, object, type } = change;
      if (actor === "engine" && facts.since !== undefined && now - facts.since > boundMs) {
        const what = `B1: ${type} ${table}/${object.metadata.name} beside a controller at work`;
        if (!facts.violations.includes(what)) facts.violations.push(what);
      }
      judge.hear(change, actor, now);
    },
    violations: () => [...facts.violations, ...judge.violations()],
    copy: () => apart(judge.copy(), about, forked(facts)),
  };
};
