/** A terminal for tests: the whole command line on the simulator, its output and its exit code. */
import { setImmediate } from "node:timers/promises";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Page, Tools } from "../../../shared/cli/io/tools.ts";
import { run } from "../../../shared/cli/program.ts";
import type { Transport } from "../../../shared/core/http.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { carryRecord } from "../../../shared/deployments/cli/carry-record.ts";
import { controllerSigns } from "../../../shared/deployments/cli/controllers.ts";
import { moveRecords, openTable } from "../../../shared/deployments/cli/copy-records.ts";
import { recoverKey, replayLines } from "../../../shared/deployments/cli/recover.ts";
import { check, flagView, forecast, render, runs } from "../../../shared/deployments/cli/render.ts";
import { settingsForCli } from "../../../shared/deployments/settings/read.ts";
import { paintFor } from "../../../shared/inspection/io/text.ts";
import { usualNamespaces } from "../../../shared/kube/upstream-controllers.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { directions } from "../../../shared/spark/apache/translation/directions.ts";
import { policyLines } from "../../../shared/spark/application/spec/policies.ts";
import { crdFiles, crds } from "../../support/crds.ts";
import { docPages } from "../../support/doc-pages.ts";

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

export type Terminal = {
  readonly simulator: Simulator;
  run(...args: readonly string[]): Promise<Ran>;
};

export type Setting = {
  readonly transport?: Transport;
  /** The CRDs that are installed. False: none; names: those whose name begins with one of them. */
  readonly crds?: false | readonly string[];
  readonly answer?: boolean;
  readonly preview?: Tools["preview"];
  /** The kinds that hosts run; absent: those of this version. */
  readonly runs?: readonly string[];
  /** The environment that names the store of records. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** The pages of the documentation; absent: those of this version. */
  readonly pages?: readonly Page[];
  readonly colours?: boolean;
  /** Called after each sleep of a command. */
  readonly slept?: (simulator: Simulator) => Promise<void>;
};

export const installed = (wanted: false | readonly string[]): readonly Obj[] =>
  crds.filter(({ metadata }) => wanted !== false && wanted.some((part) => metadata.name.startsWith(part)));

export const openTerminal = (setting: Setting = {}): Terminal =>
  onTerminal(openSimulator({ crds: installed(setting.crds ?? [""]) }), setting);

/** Returns a terminal of an existing cluster. */
export const onTerminal = (simulator: Simulator, setting: Setting = {}): Terminal => {
  const transport = setting.transport ?? simulator.transport;
  return {
    simulator,
    run: async (...args) => {
      const out: string[] = [];
      const err: string[] = [];
      const tools: Tools = {
        version: "1.2.3",
        connect: async ({ kubeconfig, server }) => ({
          transport,
          server: server ?? kubeconfig ?? "https://cluster.example:6443",
          authority: "-----BEGIN CERTIFICATE-----",
          context: "example",
          namespace: undefined,
          passage: async () => ({ url: "http://127.0.0.1:4040/", close: async () => {} }),
          table: openTable(setting.env ?? {}),
          controllers: (group) => controllerSigns(transport, group, usualNamespaces),
          prices: settingsForCli(setting.env ?? {}).prices,
          close: () => {},
        }),
        runs: async () => setting.runs ?? runs,
        forecast: async (object) => forecast(object, {}),
        policies: async () => policyLines().map((line) => ({ kind: "SparkApplication", ...line })),
        flag: async (text, family) => flagView(text, family),
        page: async () => ({ link: "http://127.0.0.1:1/page#k=secret", close: async () => {} }),
        replay: async (text) => replayLines(text),
        preview: setting.preview ?? (async () => ({ would: "nothing", why: "a test" })),
        recover: (session, key, how) => recoverKey(session, key, how, (ms) => tools.sleep(ms)),
        move: (session, move) => moveRecords(session.transport, move),
        directions: async () => directions,
        carryRecord,
        render,
        check: async (object) => check(object),
        crds: async () => crdFiles,
        pages: async () => setting.pages ?? docPages,
        host: async (given) => given.length,
        demo: async () => 0,
        paint: paintFor(setting.colours === true),
        print: (text) => void out.push(text),
        warn: (text) => void err.push(text),
        confirm: async () => setting.answer ?? false,
        now: () => simulator.clock.now(),
        sleep: async (ms, signal) => {
          // A timer beside a stream runs out only where the stream does not end at once.
          if (signal !== undefined) await setImmediate();
          if (signal?.aborted === true) return;
          simulator.clock.advanceTo(simulator.clock.now() + ms);
          await setting.slept?.(simulator);
        },
        stopped: async () => undefined,
        stdin: async () => setting.stdin ?? "",
      };
      const code = await run(tools, args);
      return { code, out: out.join("\n"), err: err.join("\n") };
    },
  };
};

const plurals: Readonly<Record<string, string>> = {
  Namespace: "api/v1/namespaces",
  ServiceAccount: "api/v1/namespaces/NS/serviceaccounts",
  Pod: "api/v1/namespaces/NS/pods",
  Deployment: "apis/apps/v1/namespaces/NS/deployments",
  Service: "api/v1/namespaces/NS/services",
  NetworkPolicy: "apis/networking.k8s.io/v1/namespaces/NS/networkpolicies",
  Lease: "apis/coordination.k8s.io/v1/namespaces/NS/leases",
  ConfigMap: "api/v1/namespaces/NS/configmaps",
  MutatingWebhookConfiguration: "apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
  ValidatingWebhookConfiguration: "apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
  ClusterRole: "apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  Role: "apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles",
  RoleBinding: "apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings",
  CustomResourceDefinition: "apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  SparkApplication: "apis/sparkoperator.k8s.io/v1beta2/namespaces/NS/sparkapplications",
  "spark.apache.org/v1 SparkApplication": "apis/spark.apache.org/v1/namespaces/NS/sparkapplications",
  ScheduledSparkApplication: "apis/sparkoperator.k8s.io/v1beta2/namespaces/NS/scheduledsparkapplications",
  SparkConnect: "apis/sparkoperator.k8s.io/v1alpha1/namespaces/NS/sparkconnects",
  Job: "apis/batch.volcano.sh/v1alpha1/namespaces/NS/jobs",
  CronJob: "apis/batch.volcano.sh/v1alpha1/namespaces/NS/cronjobs",
  JobFlow: "apis/flow.volcano.sh/v1alpha1/namespaces/NS/jobflows",
  PodGroup: "apis/scheduling.volcano.sh/v1beta1/namespaces/NS/podgroups",
  JobTemplate: "apis/flow.volcano.sh/v1alpha1/namespaces/NS/jobtemplates",
  Queue: "apis/scheduling.volcano.sh/v1beta1/queues",
  Event: "api/v1/namespaces/NS/events",
  Checkpoint: "apis/rekindle.dev/v1alpha1/namespaces/NS/checkpoints",
};

/** Of two kinds with one name, the one that others mean by it stands under that name alone. */
const pathOf = ({ apiVersion, kind, metadata }: Obj): string =>
  `/${plurals[`${apiVersion} ${kind}`] ?? plurals[kind] ?? "unknown"}`.replace("NS", metadata.namespace ?? "default");

/** Creates objects, writes the status of those that have one, and deletes those that have a deletion timestamp. */
export const make = async ({ transport }: Simulator, ...objects: readonly Obj[]): Promise<void> => {
  /** Returns the object with the UIDs of its owners, which were created before. */
  const owned = async (object: Obj): Promise<Obj> => {
    const { namespace = "default", ownerReferences = [] } = object.metadata;
    const owners = ownerReferences.map(async (owner) => {
      const path = `${pathOf({ ...owner, metadata: { name: owner.name, namespace } })}/${owner.name}`;
      const { metadata } = JSON.parse(JSON.stringify(await request(transport, "GET", path)));
      return { ...owner, uid: owner.uid === "" ? metadata.uid : owner.uid };
    });
    return { ...object, metadata: { ...object.metadata, ownerReferences: await Promise.all(owners) } };
  };
  for (const object of objects) {
    await request(transport, "POST", pathOf(object), await owned(object));
    if (object["status"] === undefined) continue;
    const path = `${pathOf(object)}/${object.metadata.name}`;
    const made = await request(transport, "GET", path);
    await request(transport, "PUT", `${path}/status`, { ...made, status: object["status"] });
  }
  for (const object of objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined))
    await request(transport, "DELETE", `${pathOf(object)}/${object.metadata.name}`);
};

/** Returns a SparkApplication as users write it, with this status. */
export const application = (name: string, state?: Readonly<Record<string, unknown>>): Obj => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: {
    type: "Scala",
    sparkVersion: "4.1.1",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
    driver: {},
    executor: { instances: 1 },
  },
  ...(state === undefined ? {} : { status: { driverInfo: {}, ...state } }),
});

/** Returns a SparkApplication that can run. */
export const full = (name: string, spec: Readonly<Record<string, unknown>> = {}) => ({
  ...application(name),
  metadata: { name },
  spec: {
    ...{ type: "Scala", sparkVersion: "4.1.1", image: "apache/spark:4.1.1", mainClass: "org.example.Main" },
    mainApplicationFile: "local:///opt/app.jar",
    ...{ driver: {}, executor: { instances: 1 } },
    ...spec,
  },
});

type DriverParts = { readonly metadata?: object; readonly spec?: object; readonly status: object };

/** Returns the driver pod of the application `app`. */
export const driverPod = ({ metadata, spec, status }: DriverParts): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "app-driver",
    namespace: "default",
    labels: { "sparkoperator.k8s.io/app-name": "app", "spark-role": "driver" },
    ownerReferences: [{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", name: "app", uid: "" }],
    ...metadata,
  },
  spec: { containers: [{ name: "spark-kubernetes-driver", image: "example/spark:1" }], ...spec },
  status,
});
