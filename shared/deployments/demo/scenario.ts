/**
 * The scenario: an application is applied, a function and an executor are killed, and the application completes. The
 * demo reports its own faults itself; everything else is read from the API.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "../../core/http.ts";
import type { Stored } from "../../core/object.ts";
import type { Change } from "../../forward/keys.ts";
import { applyText, logOf } from "./apply.ts";
import { type Claim, claimsOf, type Deeds, piIn } from "./claims.ts";
import type { DemoCluster } from "./cluster.ts";
import type { Figures } from "./diagram.ts";
import { createsDriver, isOver, isUp, noticeText, once, runningExecutors, stateOf } from "./faults.ts";
import { type FunctionSettings, type Functions, startFunctions } from "./functions.ts";
import type { Notice } from "./instances.ts";
import { exampleFile, type Manifests } from "./manifests.ts";
import { narrate, type Said } from "./narration.ts";
import { applications, applicationView, type ObservedCluster, podsOf } from "./observed-cluster.ts";
import { type Reader, startReader } from "./reader.ts";
import type { Tempo } from "./timing.ts";

export type ScenarioContext = {
  readonly cluster: DemoCluster;
  readonly manifests: Manifests;
  readonly tempo: Tempo;
  readonly say: (said: Said) => void;
  /** Aborted when the time is over, or when the user interrupts. */
  readonly signal: AbortSignal;
  /** True: the first function that creates a driver is killed. */
  readonly kills: boolean;
  /** Starts another engine, or none; absent: the demo's functions. */
  readonly engine?: (settings: FunctionSettings) => Functions;
};

export type DemoScenario = {
  readonly scene: ObservedCluster;
  figures(): Omit<Figures, "ms">;
  /** Resolves once reader and functions are ready; nothing is applied yet. */
  ready(): Promise<void>;
  /** Runs the scenario to its end, and checks the claims. */
  perform(): Promise<readonly Claim[]>;
  stop(): Promise<void>;
};

const demo = (text: string): Said => ({ lane: "demo", tone: "plain", text });

const rest = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});

const furnish = async ({ manifests, say }: ScenarioContext, door: Transport): Promise<void> => {
  const crds: Stored[] = [];
  for (const text of manifests.crds) crds.push(await applyText(door, text));
  for (const text of manifests.beside) await applyText(door, text);
  say(demo(`a cluster is up, with the CRDs ${crds.map(({ metadata }) => metadata.name.split(".")[0]).join(", ")}`));
};

/** Counts the drivers as soon as the application has a state. */
const tellDrivers = async (
  { say, signal }: ScenarioContext,
  { scene, until }: Reader,
  application: Stored,
): Promise<void> => {
  if (!(await until(() => stateOf(scene, application) !== "", signal))) return;
  const drivers = podsOf(scene, application.metadata.uid).filter(({ role }) => role === "driver");
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
  const eitherWay = (scene: ObservedCluster): boolean => isUp(scene, application) || isOver(scene, application);
  if (!(await reader.until(eitherWay, signal))) return undefined;
  await rest(tempo.calmMs, signal);
  const [victim] = runningExecutors(reader.scene, application);
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
  let deeds: Omit<Deeds, "killedExecutor"> = { killedInvocation: undefined, tookOver: undefined };
  const notice = (news: Notice): void => {
    if (news.did === "killed") deeds = { ...deeds, killedInvocation: news.invocation };
    if (news.did === "took over") deeds = { ...deeds, tookOver: news.invocation };
    for (const said of noticeText(news, visibilityMs)) say(said);
  };
  const transport = cluster.door(() => {
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
  const door = cluster.door();
  await furnish(stage, door);
  const changed = (change: Change, scene: ObservedCluster): void => {
    hear(change);
    for (const said of narrate(change, scene)) say(said);
  };
  const reader = startReader({ transport: door, namespace: "default", changed });
  const { functions, figures, deeds } = deploy(stage);
  const ready = async (): Promise<void> => {
    await reader.listed;
    while (!functions.ready() && !signal.aborted) await rest(20, signal);
    say(demo("the functions are deployed; none is running"));
  };
  return {
    scene: reader.scene,
    figures,
    ready,
    perform: async () => {
      await ready();
      await rest(stage.tempo.calmMs, signal);
      say(demo(`kubectl apply -f ${exampleFile}`));
      const application = await applyText(door, manifests.example);
      const { namespace = "", uid } = application.metadata;
      await tellDrivers(stage, reader, application);
      const killedExecutor = await killExecutor(stage, reader, application);
      await reader.until((scene) => isOver(scene, application), signal);
      const driver = podsOf(reader.scene, uid).find(({ role }) => role === "driver");
      const log = driver === undefined ? "" : await logOf(door, namespace, driver.name);
      const { scene } = reader;
      const line = piIn(log);
      if (line !== undefined) say({ lane: "driver", tone: "good", text: `its log says: ${line}` });
      return claimsOf({ scene, application: scene.seen.get(uid), states, deeds: { killedExecutor, ...deeds() }, log });
    },
    stop: async () => {
      await Promise.all([reader.stop(), functions.stop()]);
    },
  };
};
