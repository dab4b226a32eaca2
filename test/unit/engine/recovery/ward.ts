/**
 * Two objects of one kind on a simulated cluster, each with a record that real steps made. Later steps load another
 * record for the first object, as from a damaged store, until one of them saves a record over it.
 */
import { kubernetesCheckpoints } from "../../../../shared/adapters/checkpoints/kubernetes.ts";
import { oncePer } from "../../../../shared/core/cache.ts";
import type { Message } from "../../../../shared/core/key.ts";
import type { Obj, Resource } from "../../../../shared/core/object.ts";
import { operatorsFor } from "../../../../shared/deployments/common/operators.ts";
import { openWorld, operatorsByKind } from "../../../../shared/deployments/common/step-dependencies.ts";
import type { Ending } from "../../../../shared/engine/context/world.ts";
import type { Checkpoints, Queue } from "../../../../shared/engine/ports.ts";
import { take } from "../../../../shared/engine/reconcile/intake.ts";
import { recovery, timing } from "../../../../shared/engine/settings.ts";
import { collectionPath } from "../../../../shared/kube/paths.ts";
import type { Scripts } from "../../../../shared/simulator/nodes/script.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import type { Item } from "../../../../shared/simulator/storage/metadata.ts";
import { at, textAt } from "../../../proof/sweep/fields.ts";
import { crds } from "../../../support/crds.ts";
import { resources } from "../../host/objects.ts";
import type { Line } from "../../host/stand.ts";

export const [brokenRecord, neighbour] = ["app", "neighbour"] as const;

export type Treatment = { readonly strict: boolean; readonly edited: boolean };

export type Outcome = {
  readonly endings: readonly (Ending | undefined)[];
  /** Errors that were logged, except those that say that the record cannot be used. */
  readonly faults: readonly string[];
  /** Paths of requests that write. */
  readonly writes: readonly string[];
};

export type Ward = {
  /** The specs of both Checkpoints. */
  readonly records: readonly [own: unknown, other: unknown];
  /** Takes steps in a copy of the world in which the first object has this record. */
  treat(record: unknown, how: Treatment): Promise<Outcome>;
  /** Returns every object about the second one as one text, and its value at the start. */
  picture(): string;
  readonly opening: string;
  get(kind: string, name: string): unknown;
};

export type Making = {
  readonly kind: string;
  /** The objects that are applied: both, and those that both need. */
  readonly objects: readonly Obj[];
  readonly scripts: Scripts;
  /** Steps of each object; `pauseMs` passes after each round. */
  readonly rounds: number;
  readonly pauseMs: number;
  /** The first pod of this role of the first object ends with this exit code before the records are taken. */
  readonly kill?: { readonly role: string; readonly code: number };
};

const steps = 2;
const namespace = "default";

/** Returns `spoilt` in place of the stored record until a record is saved. */
const gone = (store: Checkpoints, name: string, spoilt: unknown, edited: boolean): Checkpoints => {
  let mended = false;
  return {
    ...store,
    load: async (key) => {
      const loaded = await store.load(key);
      if (mended || loaded === undefined || key.name !== name) return loaded;
      return { record: spoilt, version: loaded.version, ...(edited ? { edited: true } : {}) };
    },
    save: async (key, record, version) => {
      const saved = await store.save(key, record, version);
      mended ||= saved !== "raced" && key.name === name;
      return saved;
    },
  };
};

/** Returns an object about the second one as a text, and another as an empty one. Stored objects are immutable. */
const neighbourText = oncePer((object: Item): string => {
  if (!isAbout(object, neighbour)) return "";
  const { uid, deletionTimestamp } = object.metadata;
  return JSON.stringify([uid, deletionTimestamp, object["spec"]]);
});

const isAbout = (object: unknown, name: string): boolean => {
  const owners = at(object, "metadata", "ownerReferences");
  const names = [object, ...(Array.isArray(owners) ? owners.map((owner) => ({ metadata: owner })) : [])];
  return names.some((one) => (textAt(one, "metadata", "name") ?? "").includes(name));
};

export const openWard = async ({ kind, objects, scripts, rounds, pauseMs, kill }: Making): Promise<Ward> => {
  const simulator = openSimulator({ crds, scripts });
  const writes: string[] = [];
  const lines: Line[] = [];
  const transport = {
    ...simulator.transport,
    send: async (request: Parameters<typeof simulator.handle>[0]) => {
      if (request.method !== "GET") writes.push(`${request.method} ${request.path}`);
      return simulator.handle(request);
    },
  };
  const operatorOf = operatorsByKind(operatorsFor(timing));
  const queue: Queue = { send: async () => {}, sendLater: async () => {} };
  const report = (level: string, message: string, fields = {}): void => void lines.push({ level, message, fields });
  const step = async (name: string, more: Partial<Parameters<typeof openWorld>[0]> = {}) => {
    const world = await openWorld({ transport, queue, report, timing, operatorOf, ...more });
    const message: Message = { cluster: "ward", kind, namespace, name, reason: "test" };
    return await take(world, [message]);
  };
  const pass = (ms: number): void => simulator.clock.advanceTo(simulator.clock.now() + ms);
  for (const object of objects) {
    const path = collectionPath(resourceOf(object.kind), object.metadata.namespace);
    const headers = { "content-type": "application/json" };
    const answer = simulator.handle({ method: "POST", path, headers, body: JSON.stringify(object) });
    if (answer.status >= 300) throw new Error(answer.body);
  }
  const settle = async (): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await step(brokenRecord);
      await step(neighbour);
      pass(pauseMs);
    }
  };
  await settle();
  const victim = simulator.store.list("pods").find(({ metadata: { labels = {} } }) => {
    const { "sparkoperator.k8s.io/app-name": of, "spark-role": role } = labels;
    return of === brokenRecord && role === kill?.role;
  });
  if (kill !== undefined && victim !== undefined)
    simulator.killPod(namespace, victim.metadata.name, { code: kill.code });
  if (kill !== undefined) await settle();
  const recordOf = (name: string): unknown =>
    at(simulator.store.get("checkpoints.rekindle.dev", `${namespace}/${kind.toLowerCase()}.${name}`), "spec");
  const start = simulator.snapshot();
  const picture = (): string =>
    simulator.store
      .tables()
      .flatMap((table) => simulator.store.list(table).map(neighbourText))
      .filter((text) => text !== "")
      .join("\n");
  return {
    records: [recordOf(brokenRecord), recordOf(neighbour)],
    treat: async (record, { strict, edited }) => {
      simulator.restore(start);
      writes.length = 0;
      lines.length = 0;
      const store = gone(kubernetesCheckpoints(transport), brokenRecord, record, edited);
      const endings: (Ending | undefined)[] = [];
      for (let nth = 0; nth < steps; nth += 1) {
        endings.push(await step(brokenRecord, { checkpoints: store, recovery: { ...recovery, strict } }));
        pass(5_000);
      }
      const errors = lines.filter(({ level, message }) => level === "error" && !message.startsWith("the checkpoint"));
      return { endings, faults: errors.map((line) => JSON.stringify(line)), writes: [...writes] };
    },
    picture,
    opening: picture(),
    get: (of, name) => simulator.store.get(tableOf(resourceOf(of)), `${namespace}/${name}`),
  };
};

const tableOf = ({ group, plural }: Resource): string => (group === "" ? plural : `${plural}.${group}`);

const resourceOf = (kind: string): Resource => {
  const found = resources[kind];
  if (found === undefined) throw new Error(`no resource ${kind}`);
  return found;
};
