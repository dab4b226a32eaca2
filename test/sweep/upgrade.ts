/**
 * Upgrade and rollback: a crowd of running applications whose records another version has written. Whatever is stepped
 * and resynced then, nothing is deleted, nothing is created, and all of them run on in their first attempt.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { HttpRequest, Transport } from "../../shared/core/http.ts";
import type { Message } from "../../shared/core/key.ts";
import { take } from "../../shared/engine/batch.ts";
import type { Queue } from "../../shared/engine/ports.ts";
import { timing } from "../../shared/engine/settings.ts";
import type { World } from "../../shared/engine/world.ts";
import { openSimulator, type Simulator } from "../../shared/simulator/open.ts";
import { operatorsFor } from "../../shared/wiring/operators.ts";
import { resync } from "../../shared/wiring/resync.ts";
import { openWorld } from "../../shared/wiring/world.ts";
import { wordsFor } from "./door.ts";
import { numberAt, textAt } from "./fields.ts";
import { sweptOf } from "./kinds.ts";
import { base, namespace } from "./plot.ts";
import { manifest } from "./theatre.ts";

const crowd = 100;
const cluster = "upgrade";
const otherDigest = "0".repeat(64);

/** What another version's records differ in. */
export const versions = [
  { name: "upgrade: records of the normaliser before (N-1)", memory: { normaliser: 0, spec: otherDigest } },
  {
    name: "rollback: records of the next normaliser (N+1), with fields that nobody knows here",
    memory: { normaliser: 99, spec: otherDigest, invented: { later: true } },
  },
] as const;

type Scene = {
  readonly simulator: Simulator;
  readonly world: World;
  readonly requests: string[];
  readonly queue: Message[];
  readonly transport: Transport;
};

const folder = join(import.meta.dirname, "../../infra/crds");
const crds = readdirSync(folder).map((file): unknown => parse(readFileSync(join(folder, file), "utf8")));

const nodes = Array.from({ length: 12 }, (_, index) => ({ name: `node-${index}` }));

const open = async (): Promise<Scene> => {
  const simulator = openSimulator({ crds, nodes, scripts: { "*": [{ hangs: true }] } });
  const requests: string[] = [];
  const queue: Message[] = [];
  const transport: Transport = {
    send: async (request: HttpRequest) => {
      requests.push(wordsFor(request));
      return simulator.handle(request);
    },
    stream: () => Promise.reject(new Error("nobody watches")),
  };
  const sending: Queue = { send: async (message) => void queue.push(message), sendLater: async () => {} };
  const operators = operatorsFor(timing);
  const world = await openWorld({ transport, queue: sending, report: () => {}, timing, operators });
  return { simulator, world, requests, queue, transport };
};

const asked = ({ simulator }: Scene, method: string, path: string, body: object): void => {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const answer = simulator.handle({ method, path, headers: { "content-type": type }, body: JSON.stringify(body) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.body}`);
};

const names = Array.from({ length: crowd }, (_, index) => `app-${index}`);

const stepAll = async (scene: Scene): Promise<void> => {
  for (const name of names)
    await take(scene.world, [{ cluster, kind: "SparkApplication", namespace, name, reason: "test" }]);
};

/** What a resync finds is stepped, until it finds nothing to send for. */
const resyncAll = async ({ transport, world, queue }: Scene): Promise<void> => {
  const sending: Queue = { send: async (message) => void queue.push(message), sendLater: async () => {} };
  const operators = operatorsFor(timing);
  await resync({ transport, queue: sending, cluster, namespaces: [], selector: undefined, operators }, "1");
  for (const message of queue.splice(0)) await take(world, [message]);
};

const running = async (scene: Scene): Promise<void> => {
  asked(scene, "POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "spark", namespace },
  });
  const spec = { ...base, executor: { ...base.executor, instances: 1 } };
  for (const name of names) asked(scene, "POST", ...manifest(sweptOf({}), name, spec));
  for (let round = 0; round < 2; round++) {
    await stepAll(scene);
    scene.simulator.clock.advanceTo(scene.simulator.clock.now() + 20_000);
  }
  await stepAll(scene);
};

const acting = /^(DELETE|POST (pods|services|configmaps))/;

/** What was done that should not have been; nothing, if all is well. */
export const violationsOf = async (memory: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
  const scene = await open();
  await running(scene);
  const records = `/apis/rekindle.dev/v1alpha1/namespaces/${namespace}/checkpoints`;
  for (const name of names) asked(scene, "PATCH", `${records}/sparkapplication.${name}`, { spec: { memory } });
  scene.requests.length = 0;
  await stepAll(scene);
  await resyncAll(scene);
  scene.simulator.clock.advanceTo(scene.simulator.clock.now() + 3_600_000);
  await resyncAll(scene);
  const acts = scene.requests.filter((request) => acting.test(request));
  const apps = scene.simulator.store.list("sparkapplications.sparkoperator.k8s.io");
  const others = apps.filter(
    (app) =>
      textAt(app, "status", "applicationState", "state") !== "RUNNING" ||
      numberAt(app, "status", "submissionAttempts") !== 1,
  );
  const found = apps.length === crowd ? [] : [`${apps.length} applications instead of ${crowd}`];
  return [...found, ...acts, ...others.map(({ metadata }) => `${metadata.name} does not run in its first attempt`)];
};
