/** The five ports in memory, and a toy kind whose decision each test writes itself. */
import { memoryCheckpoints } from "../../../shared/adapters/checkpoints/memory.ts";
import type { Decision, Reads } from "../../../shared/core/decision.ts";
import { ApiError } from "../../../shared/core/http.ts";
import { mergePatch } from "../../../shared/core/json.ts";
import type { Message } from "../../../shared/core/key.ts";
import type { Obj, Ref, Resource, Stored } from "../../../shared/core/object.ts";
import type { Operator } from "../../../shared/core/operator.ts";
import type { Effect, Plan, ProbeResult, View } from "../../../shared/core/plan.ts";
import type { StateUpdate } from "../../../shared/core/updates.ts";
import type { Done } from "../../../shared/engine/cluster/apply.ts";
import type { World } from "../../../shared/engine/context/world.ts";
import type { CheckpointRecord, Cluster } from "../../../shared/engine/ports.ts";
import { timing } from "../../../shared/engine/settings.ts";
import { pods } from "../../../shared/kube/resources.ts";
import { mergePatch as patched } from "../../../shared/simulator/schema/patch.ts";

export const toys: Resource = { group: "toys.example", version: "v1", plural: "toys", kind: "Toy" };
export const parts: Resource = { group: "", version: "v1", plural: "parts", kind: "Part" };

export const message: Message = { cluster: "here", kind: "Toy", namespace: "ns", name: "bear", reason: "test" };

/** 2026-11-02T08:00:00Z. */
export const eight = Date.UTC(2026, 10, 2, 8);

export type Toy = { readonly count: number };
/** A generator that yields queries, or a plan if the decision reads nothing. */
export type Decide = (view: View<Toy>) => Reads<ToyPlan> | ToyPlan;

/** A plan of the toy kind. Without `next`, the step waits for an event. */
export type ToyPlan = Omit<Plan<Toy>, "next"> & Partial<Pick<Plan<Toy>, "next">>;

export function* decisionOf(decided: ReturnType<Decide>): Decision<Toy> {
  const plan = Symbol.iterator in decided ? yield* decided : decided;
  return { next: { do: "wait" }, ...plan };
}

export const toy = (more: Partial<Stored["metadata"]> = {}, status?: unknown): Stored => ({
  apiVersion: "toys.example/v1",
  kind: "Toy",
  metadata: { name: "bear", namespace: "ns", uid: "toy-1", resourceVersion: "1", generation: 1, ...more },
  ...(status === undefined ? {} : { status }),
});

export const part = (name: string, owner = "toy-1", attempt = "1"): Obj => ({
  apiVersion: "v1",
  kind: "Part",
  metadata: {
    name,
    namespace: "ns",
    labels: { "rekindle.dev/attempt": attempt },
    ownerReferences: [{ apiVersion: "toys.example/v1", kind: "Toy", name: "bear", uid: owner }],
  },
});

export const creation = (name: string, attempt = "1"): Effect => ({
  do: "create",
  object: part(name, "toy-1", attempt),
  resource: parts,
  owner: "toy-1",
});

export const refOf = (resource: Resource, name: string): Ref => ({ resource, namespace: "ns", name });

export type Sent = { readonly message: Message; readonly id: string; readonly delayMs: number };
type Line = { readonly level: string; readonly message: string; readonly fields: Record<string, unknown> };

export type Fixture = {
  /** The answer to each read of a log. */
  logs: () => ProbeResult;
  readonly world: World;
  /** Every call to cluster and checkpoints, in order, as `verb resource name`. */
  readonly calls: string[];
  readonly sent: Sent[];
  readonly lines: Line[];
  readonly objects: Map<string, Stored>;
  readonly checkpoints: ReturnType<typeof memoryCheckpoints>;
  /** Server time and monotonic time in ms, set by the test. */
  readonly time: { now: number; monotonic: number };
  /** Runs before a call is served; an error that it throws is the answer. */
  before: (call: string) => void | Promise<void>;
  /** Runs after a call took effect; an error that it throws replaces the answer. */
  after: (call: string) => void;
  /** Returns the part of a status that the server keeps. */
  keeps: (status: unknown) => unknown;
  decide: Decide;
  /** Returns the update that a plan sends to listeners. */
  statusUpdate: (plan: Plan<Toy>) => StateUpdate | undefined;
  put(object: Obj): Stored;
  /** Returns the word by which a trouble is reported. */
  words: NonNullable<Operator<Toy>["troubleWord"]>;
  /** The stored record, or undefined. */
  record(): CheckpointRecord | undefined;
};

const writing = /^(create|remove|patch|save|drop) /;

/** Returns the calls that write. */
export const writesIn = (calls: readonly string[]): readonly string[] => calls.filter((call) => writing.test(call));

export const conflict = (): ApiError => new ApiError({ status: 409, reason: "Conflict", message: "changed meanwhile" });
export const exists = (): ApiError => new ApiError({ status: 409, reason: "AlreadyExists", message: "exists" });
export const failing = (status: number, reason: string, retryAfterMs?: number): ApiError =>
  new ApiError({
    status,
    reason,
    message: `${reason} said so`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

const place = (resource: Resource, name: string): string => `${resource.plural} ${name}`;

const clusterOf = (fixture: Fixture, call: <T>(name: string, act: () => T) => Promise<T>): Cluster => {
  const { objects, time } = fixture;
  const answer = <T>(value: T) => ({ value, date: time.now });
  return {
    get: (ref) =>
      call(`get ${place(ref.resource, ref.name)}`, () => answer(objects.get(place(ref.resource, ref.name)))),
    list: ({ resource, field }) =>
      call(`list ${resource.plural}`, () =>
        answer(
          [...objects.entries()]
            .filter(([at]) => at.startsWith(`${resource.plural} `))
            .map(([, object]) => object)
            .filter(({ metadata }) => field === undefined || field === `metadata.name=${metadata.name}`),
        ),
      ),
    proxyGet: ({ pod, port }) =>
      call(`ask ${place(pod.resource, pod.name)}:${port}`, () => ({ heard: true, value: { said: pod.name } })),
    logEnd: (pod) => call(`log of ${place(pod.resource, pod.name)}`, () => fixture.logs()),
    create: (ref, object) =>
      call(`create ${place(ref.resource, ref.name)}`, () => {
        if (objects.has(place(ref.resource, ref.name))) throw exists();
        return fixture.put(object);
      }),
    remove: (ref, fence) =>
      call(`remove ${place(ref.resource, ref.name)}`, () => {
        const there = objects.get(place(ref.resource, ref.name));
        if (there?.metadata.uid !== fence.uid) return;
        if ((fence.resourceVersion ?? there.metadata.resourceVersion) !== there.metadata.resourceVersion)
          throw conflict();
        objects.delete(place(ref.resource, ref.name));
      }),
    evict: (ref, uid) =>
      call(`evict ${place(ref.resource, ref.name)}`, () => {
        if (objects.get(place(ref.resource, ref.name))?.metadata.uid === uid)
          objects.delete(place(ref.resource, ref.name));
      }),
    patch: (ref, fence, fields) =>
      call(`patch ${place(ref.resource, ref.name)}`, () => {
        const there = objects.get(place(ref.resource, ref.name));
        if (there === undefined) throw failing(404, "NotFound");
        const { uid, resourceVersion } = there.metadata;
        if (uid !== fence.uid || resourceVersion !== fence.resourceVersion) throw conflict();
        return fixture.put({ ...there, ...Object(patched(there, fields)) });
      }),
    patchStatus: (ref, resourceVersion, patch) =>
      call(`patch ${place(ref.resource, ref.name)}`, () => {
        const there = objects.get(place(ref.resource, ref.name));
        if (there === undefined) throw failing(404, "NotFound");
        if (there.metadata.resourceVersion !== resourceVersion) throw conflict();
        const status = fixture.keeps(patched(there["status"] ?? {}, patch));
        return mergePatch(there["status"] ?? {}, status) === undefined ? there : fixture.put({ ...there, status });
      }),
  };
};

/** Opens a world with one toy in it. */
export const openFixture = (
  decide: Decide = ({ memory }) => ({ memory: memory ?? { count: 0 }, stages: [] }),
): Fixture => {
  const objects = new Map<string, Stored>();
  const checkpoints = memoryCheckpoints();
  const time = { now: eight, monotonic: 1_000 };
  const calls: string[] = [];
  const sent: Sent[] = [];
  const lines: Line[] = [];
  let versions = 1;
  const call = async <T>(name: string, act: () => T | Promise<T>): Promise<T> => {
    calls.push(name);
    await fixture.before(name);
    const value = await act();
    fixture.after(name);
    return value;
  };
  const operator: Operator<Toy> = {
    kind: "Toy",
    component: "toy-maker",
    resource: toys,
    watches: [],
    parse: (stored) =>
      typeof stored === "object" && stored !== null && "count" in stored && typeof stored.count === "number"
        ? { ok: true, memory: { count: stored.count } }
        : { ok: false, error: "no toy's memory" },
    decide: (_, view) => decisionOf(fixture.decide(view)),
    measuresOf: (_, { phase }) => [{ do: "count", name: String(phase), value: 1, of: {} }],
    statusUpdate: (plan) => fixture.statusUpdate(plan),
    troubleWord: (trouble) => fixture.words(trouble),
    heldUp: (object, message) =>
      object["status"] === undefined ? undefined : { ...Object(object["status"]), message },
  };
  const send = async (name: string, sending: Sent): Promise<void> => {
    await fixture.before(name);
    sent.push(sending);
  };
  const fixture: Fixture = {
    calls,
    sent,
    lines,
    objects,
    checkpoints,
    time,
    before: () => {},
    after: () => {},
    keeps: (status) => status,
    words: () => undefined,
    logs: () => ({ heard: true, value: "the end" }),
    decide,
    statusUpdate: () => undefined,
    put: (object) => {
      versions += 1;
      const { uid = `uid-${versions}`, ...metadata } = object.metadata;
      const stored: Stored = { ...object, metadata: { ...metadata, uid, resourceVersion: String(versions) } };
      const plural = [toys, parts, pods].find(({ kind }) => kind === object.kind)?.plural ?? "events";
      objects.set(`${plural} ${metadata.name}`, stored);
      return stored;
    },
    record: () => {
      const text = checkpoints.text(message);
      return text === undefined ? undefined : JSON.parse(text);
    },
    get world() {
      return world;
    },
  };
  const world: World = {
    cluster: clusterOf(fixture, call),
    checkpoints: {
      load: (key) => call("load", () => checkpoints.load(key)),
      save: (key, record, version) => call(`save ${record.saves}`, () => checkpoints.save(key, record, version)),
      remove: (key, version) => call(`drop ${version}`, () => checkpoints.remove(key, version)),
    },
    queue: {
      send: (sending, id) => send("send", { message: sending, id, delayMs: 0 }),
      sendLater: (sending, id, delayMs) => send("sendLater", { message: sending, id, delayMs }),
    },
    clock: { monotonic: () => time.monotonic },
    report: (level, text, fields = {}) => lines.push({ level, message: text, fields }),
    operatorOf: (kind) => (kind === "Toy" ? operator : undefined),
    clusterUid: "cluster-1",
    timing,
  };
  fixture.put(toy());
  return fixture;
};

/** The dependencies of the appliers in this world. */
export const handsOf = (world: Fixture, until = Number.POSITIVE_INFINITY) => ({
  cluster: world.world.cluster,
  clock: world.world.clock,
  until,
  now: eight,
});

/** Answers the next calls of this name by these errors, one each. */
export const answering = (world: Fixture, call: string, ...errors: readonly ApiError[]): void => {
  const left = [...errors];
  world.before = (name) => {
    const error = name === call ? left.shift() : undefined;
    if (error !== undefined) throw error;
  };
};

/** The outcome of an effect in one line. */
export const short = (done: Done): string => {
  if (done.did === "refused") return `refused ${done.refusal.status} ${done.refusal.reason}`;
  return done.did === "troubled" ? `troubled ${done.trouble.reason}` : done.did;
};
