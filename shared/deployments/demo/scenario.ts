/**
 * The scenario: an application is applied, a function and an executor are killed, and the application completes. Its
 * durations can be followed in a first minute. The demo reports its own faults itself; everything else is read from
 * the API.
 */

import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { parseYaml } from "../../adapters/kubernetes/yaml.ts";
import type { HttpRequest, Transport } from "../../core/http.ts";
import type { Resource, Stored } from "../../core/object.ts";
import type { Change } from "../../forward/keys.ts";
import { objectPath, withQuery } from "../../kube/paths.ts";
import { namespaces } from "../../kube/resources.ts";
import { storedOf } from "../../kube/responses.ts";
import type { DriverScript } from "../../simulator/nodes/script.ts";
import {
  type DemoCluster,
  exampleFile,
  type FunctionSettings,
  type Functions,
  type Manifests,
  type Notice,
  startFunctions,
} from "./cluster.ts";
import { type NarrationLine, narrate } from "./narration.ts";
import {
  applications,
  applicationView,
  type Claim,
  claimsOf,
  type InjectedFaults,
  type ObservedCluster,
  type PodView,
  piIn,
  podsOf,
  type Reader,
  startReader,
} from "./observed-cluster.ts";
import type { Figures } from "./screen.ts";

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

const resources: readonly Resource[] = [
  applications,
  namespaces,
  { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount" },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
  },
];

const timeoutMs = 5_000;

/** Applies one YAML document, and returns the stored object. */
const applyText = async (transport: Transport, text: string): Promise<Stored> => {
  const object = manifest.parse(parseYaml(text));
  const { kind, metadata } = object;
  const resource = resources.find((one) => one.kind === kind);
  if (resource === undefined) throw new Error(`the demo cannot apply a ${kind}`);
  const { name, namespace } = metadata;
  const path = objectPath({ resource, name, ...(namespace === undefined ? {} : { namespace }) });
  const response = await transport.send({
    method: "PATCH",
    path: withQuery(path, { fieldManager: "rekindle-demo" }),
    headers: { "content-type": "application/apply-patch+yaml" },
    body: JSON.stringify(object),
    timeoutMs,
  });
  return storedOf(`apply ${kind} ${name}`, response);
};

/** Returns the log of a pod so far, or the error text of the API server. */
const logOf = async (transport: Transport, namespace: string, pod: string): Promise<string> => {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
  const { body } = await transport.send({ method: "GET", path, headers: {}, timeoutMs });
  return body;
};

/**
 * True for the request during which the first function is killed: it creates the driver pod, and the status is not
 * written yet.
 */
const createsDriver = ({ method, path, body }: HttpRequest): boolean =>
  method === "POST" && path.endsWith("/pods") && body?.includes('"spark-role":"driver"') === true;

/** Returns a predicate that is true only for the first match. */
const once = <T>(isIt: (one: T) => boolean): ((one: T) => boolean) => {
  let spent = false;
  return (one) => {
    if (spent || !isIt(one)) return false;
    spent = true;
    return true;
  };
};

const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(1))} s`;

/** Returns the text of a notice. `visibilityMs`: the visibility timeout of a killed invocation's message. */
const noticeText = (notice: Notice, visibilityMs: number): readonly NarrationLine[] => {
  switch (notice.did) {
    case "complained":
      return [{ lane: "function", tone: "bad", text: notice.message }];
    case "took over": {
      const text = `invocation ${notice.invocation} receives the message after ${seconds(notice.afterMs)} and reads the cluster`;
      return [{ lane: "function", tone: "good", text }];
    }
    case "killed": {
      const text = `invocation ${notice.invocation} is killed during its step, just after it created the driver`;
      const wait = `no function runs; the queue delivers the message again after ${seconds(visibilityMs)} (90 s in a deployment)`;
      return [
        { lane: "function", tone: "bad", text },
        { lane: "function", tone: "faint", text: wait },
      ];
    }
  }
};

const stateOf = (observed: ObservedCluster, { metadata }: Stored): string => {
  const now = observed.seen.get(metadata.uid);
  return now === undefined ? "" : applicationView(now).state;
};

const isOver = (observed: ObservedCluster, application: Stored): boolean =>
  ["COMPLETED", "FAILED"].includes(stateOf(observed, application));

const runningExecutors = (observed: ObservedCluster, { metadata }: Stored): readonly PodView[] =>
  podsOf(observed, metadata.uid).filter(({ role, phase }) => role === "executor" && phase === "Running");

/** Returns whether all requested executors run and the status is RUNNING. */
const isUp = (observed: ObservedCluster, application: Stored): boolean =>
  stateOf(observed, application) === "RUNNING" &&
  runningExecutors(observed, application).length >= applicationView(application).wants;

export type ScenarioContext = {
  readonly cluster: DemoCluster;
  readonly manifests: Manifests;
  readonly tempo: Tempo;
  readonly say: (said: NarrationLine) => void;
  /** Aborted when the time is over, or when the user interrupts. */
  readonly signal: AbortSignal;
  /** True: the first function that creates a driver is killed. */
  readonly kills: boolean;
  /** Starts another engine, or none; absent: the demo's functions. */
  readonly engine?: (settings: FunctionSettings) => Functions;
};

export type DemoScenario = {
  readonly observed: ObservedCluster;
  figures(): Omit<Figures, "ms">;
  /** Resolves once reader and functions are ready; nothing is applied yet. */
  ready(): Promise<void>;
  /** Runs the scenario to its end, and checks the claims. */
  perform(): Promise<readonly Claim[]>;
  stop(): Promise<void>;
};

const demo = (text: string): NarrationLine => ({ lane: "demo", tone: "plain", text });

const rest = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});

const furnish = async ({ manifests, say }: ScenarioContext, transport: Transport): Promise<void> => {
  const crds: Stored[] = [];
  for (const text of manifests.crds) crds.push(await applyText(transport, text));
  for (const text of manifests.beside) await applyText(transport, text);
  say(demo(`a cluster is up, with the CRDs ${crds.map(({ metadata }) => metadata.name.split(".")[0]).join(", ")}`));
};

/** Counts the drivers as soon as the application has a state. */
const tellDrivers = async (
  { say, signal }: ScenarioContext,
  { observed, until }: Reader,
  application: Stored,
): Promise<void> => {
  if (!(await until(() => stateOf(observed, application) !== "", signal))) return;
  const drivers = podsOf(observed, application.metadata.uid).filter(({ role }) => role === "driver");
  const [driver] = drivers;
  const alone = drivers.length === 1 && driver !== undefined;
  const text = alone ? `${driver.name} is found and not created again` : `there are ${drivers.length} drivers now`;
  say({ lane: "driver", tone: alone ? "good" : "bad", text });
};

/** Waits for the executors, lets them work for a moment, and kills the first. Returns its name. */
const killExecutor = async (
  stage: ScenarioContext,
  reader: Reader,
  application: Stored,
): Promise<string | undefined> => {
  const { cluster, tempo, signal, say } = stage;
  const eitherWay = (observed: ObservedCluster): boolean =>
    isUp(observed, application) || isOver(observed, application);
  if (!(await reader.until(eitherWay, signal))) return undefined;
  await rest(tempo.calmMs, signal);
  const [victim] = runningExecutors(reader.observed, application);
  if (victim === undefined) return undefined;
  say(demo(`kill -9: the process of executor ${victim.id}`));
  cluster.simulator.killPod(application.metadata.namespace ?? "", victim.name, { code: 137 });
  return victim.name;
};

/** Collects the states of the first application, in the order of the API. */
const openStates = () => {
  const states: string[] = [];
  let uid: string | undefined;
  const hear = ({ after }: Change): void => {
    if (after?.kind !== applications.kind) return;
    uid ??= after.metadata.uid;
    const { state } = applicationView(after);
    if (after.metadata.uid === uid && state !== "" && states.at(-1) !== state) states.push(state);
  };
  return { states, hear };
};

/** Starts the functions, with the kill if there is one, and counts their requests. */
const deploy = ({ cluster, tempo, say, kills, engine = startFunctions }: ScenarioContext) => {
  const { visibilityMs } = tempo;
  let requests = 0;
  let deeds: Omit<InjectedFaults, "killedExecutor"> = { killedInvocation: undefined, tookOver: undefined };
  const notice = (news: Notice): void => {
    if (news.did === "killed") deeds = { ...deeds, killedInvocation: news.invocation };
    if (news.did === "took over") deeds = { ...deeds, tookOver: news.invocation };
    for (const said of noticeText(news, visibilityMs)) say(said);
  };
  const transport = cluster.openTransport(() => {
    requests += 1;
  });
  const functions = engine({ transport, visibilityMs, kills: kills ? once(createsDriver) : () => false, notice });
  const figures = (): Omit<Figures, "ms"> => ({
    invocations: functions.invocations(),
    killed: deeds.killedInvocation === undefined ? 0 : 1,
    requests,
  });
  return { functions, figures, deeds: () => deeds };
};

/** Opens reader and functions, and applies the objects of an installation. */
export const openScenario = async (stage: ScenarioContext): Promise<DemoScenario> => {
  const { cluster, say, signal, manifests } = stage;
  const { states, hear } = openStates();
  const transport = cluster.openTransport();
  await furnish(stage, transport);
  const changed = (change: Change, observed: ObservedCluster): void => {
    hear(change);
    for (const said of narrate(change, observed)) say(said);
  };
  const reader = startReader({ transport: transport, namespace: "default", changed });
  const { functions, figures, deeds } = deploy(stage);
  const ready = async (): Promise<void> => {
    await reader.listed;
    while (!functions.ready() && !signal.aborted) await rest(20, signal);
    say(demo("the functions are deployed; none is running"));
  };
  return {
    observed: reader.observed,
    figures,
    ready,
    perform: async () => {
      await ready();
      await rest(stage.tempo.calmMs, signal);
      say(demo(`kubectl apply -f ${exampleFile}`));
      const application = await applyText(transport, manifests.example);
      const { namespace = "", uid } = application.metadata;
      await tellDrivers(stage, reader, application);
      const killedExecutor = await killExecutor(stage, reader, application);
      await reader.until((observed) => isOver(observed, application), signal);
      const driver = podsOf(reader.observed, uid).find(({ role }) => role === "driver");
      const log = driver === undefined ? "" : await logOf(transport, namespace, driver.name);
      const { observed } = reader;
      const line = piIn(log);
      if (line !== undefined) say({ lane: "driver", tone: "good", text: `its log says: ${line}` });
      return claimsOf({
        observed,
        application: observed.seen.get(uid),
        states,
        deeds: { killedExecutor, ...deeds() },
        log,
      });
    },
    stop: async () => {
      await Promise.all([reader.stop(), functions.stop()]);
    },
  };
};

export type Tempo = {
  /** The visibility timeout of a killed invocation's message, ms; 90 s in a deployment. */
  readonly visibilityMs: number;
  /** The pause before the application is applied, and before an executor is killed, ms. */
  readonly calmMs: number;
  /** The time limit of the scenario, ms; then the claims that are not met fail. */
  readonly limitMs: number;
  /** The durations of simulated Spark, for every application. */
  readonly spark: DriverScript;
};

export const tempo: Tempo = {
  visibilityMs: 4_000,
  calmMs: 1_500,
  limitMs: 50_000,
  spark: {
    startMs: 5_000,
    bootMs: 1_800,
    jobMs: 10_000,
    executors: { "1": { startMs: 700 }, "2": { startMs: 1_300 }, "*": { startMs: 900 } },
  },
};
