/** The forwarder on the simulated cluster: every change arrives as a key, whatever the state of the queue. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Message } from "../../../shared/core/key.ts";
import type { Watcher } from "../../../shared/core/operator.ts";
import { type ForwarderSettings, startForwarder } from "../../../shared/forward/forwarder.ts";
import { openWatchState } from "../../../shared/forward/listwatch.ts";
import { openSimulator } from "../../../shared/simulator/open.ts";

const configMaps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" } as const;
const secrets = { group: "", version: "v1", plural: "secrets", kind: "Secret" } as const;

/** Stands for an application and its child, of kinds that every API server has. */
const operator: Watcher = {
  kind: "ConfigMap",
  resource: configMaps,
  watches: [
    { resource: configMaps, ownerName: ({ metadata }) => metadata.name, matters: () => true },
    { resource: secrets, selector: "app", ownerName: ({ metadata }) => metadata.labels?.["app"], matters: () => true },
  ],
};

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const until = async (what: () => boolean): Promise<void> => {
  for (let turns = 0; turns < 10_000; turns += 1) {
    if (what()) return;
    await settled();
  }
  assert.fail("it never happened");
};

const start = (more: Partial<ForwarderSettings> = {}) => {
  const { transport, handle, store } = openSimulator();
  const sent: { message: Message; id: string }[] = [];
  const ask = (method: "POST" | "DELETE", path: string, object?: unknown): void => {
    const headers = { "content-type": "application/json" };
    const answer = handle({ method, path, headers, ...(object === undefined ? {} : { body: JSON.stringify(object) }) });
    assert.ok(answer.status < 300, answer.body);
  };
  const apply = (plural: string, kind: string, name: string, labels = {}): void =>
    ask("POST", `/api/v1/namespaces/default/${plural}`, { apiVersion: "v1", kind, metadata: { name, labels } });
  const run = () =>
    startForwarder({
      transport,
      operators: [operator],
      cluster: "c1",
      namespaces: ["default"],
      selector: undefined,
      send: async (message, id) => {
        sent.push({ message, id });
      },
      report: () => {},
      now: Date.now,
      random: () => 0,
      ...more,
    });
  const names = (): readonly string[] => sent.map(({ message }) => message.name);
  return { sent, names, ask, apply, run, store };
};

describe("a forwarder's cache", () => {
  const other: Watcher = {
    kind: "Another",
    resource: configMaps,
    watches: [
      {
        resource: secrets,
        selector: "job",
        ownerName: ({ metadata }) => metadata.labels?.["job"],
        matters: () => true,
      },
    ],
  };

  it("shows each kind the objects that its own operator watches, where two watch the same resource", async () => {
    const { apply, run } = start({ operators: [operator, other] });
    apply("secrets", "Secret", "s1", { app: "parent" });
    apply("secrets", "Secret", "s2", { job: "task" });
    const forwarder = run();
    const names = (kind: string): readonly string[] | undefined => {
      const seen = forwarder.known({ kind, resource: secrets, namespace: "default" });
      return seen === undefined ? undefined : [...seen.values()].map(({ metadata }) => metadata.name);
    };
    assert.equal(names("ConfigMap"), undefined);
    await until(() => forwarder.synced());
    assert.deepEqual([names("ConfigMap"), names("Another"), names("Nobody")], [["s1"], ["s2"], undefined]);
    assert.equal(forwarder.known({ kind: "Another", resource: secrets, namespace: "elsewhere" }), undefined);
    await forwarder.stop();
  });

  it("is unused in a namespace whose objects exceed their share, and their keys are still sent", async () => {
    const { apply, run, sent } = start({ operators: [operator, other], cacheBytes: 4_000 });
    for (let at = 0; at < 20; at += 1) apply("secrets", "Secret", `s${at}`, { job: "task", long: "x".repeat(63) });
    const forwarder = run();
    await until(() => forwarder.synced());
    await until(() => sent.length > 0);
    const known = forwarder.known({ kind: "Another", resource: secrets, namespace: "default" });
    await forwarder.stop();
    assert.equal(known, undefined);
  });
});

describe("the forwarder", () => {
  it("sends the keys of objects that exist, that appear and that are deleted", async () => {
    const { names, ask, apply, run } = start();
    apply("configmaps", "ConfigMap", "before");
    const forwarder = run();
    await until(() => forwarder.synced());
    apply("configmaps", "ConfigMap", "after");
    apply("secrets", "Secret", "s1", { app: "parent" });
    apply("secrets", "Secret", "s2");
    await until(() => names().includes("parent"));
    ask("DELETE", "/api/v1/namespaces/default/configmaps/before");
    for (let turns = 0; turns < 20; turns += 1) await settled();
    await forwarder.stop();
    assert.deepEqual([...names()].filter((name) => name !== "kube-root-ca.crt").sort(), [
      "after",
      "before",
      "before",
      "parent",
    ]);
  });

  it("tells of a gap once a watch that had lost its place has listed, not of its first list", async () => {
    const gaps: string[] = [];
    const fresh = start({ gap: () => gaps.push("at first") });
    const first = fresh.run();
    await until(() => first.synced());
    await first.stop();
    const late = start({
      gap: () => gaps.push("later"),
      watchStateOf: ({ subject }) => openWatchState(subject.trim, "1"),
    });
    late.apply("secrets", "Secret", "s1", { app: "parent" });
    late.ask("DELETE", "/api/v1/namespaces/default/secrets/s1");
    late.store.compact(late.store.revision());
    const second = late.run();
    // A watch that was refused begins again after some 250 ms.
    for (let turns = 0; turns < 200 && gaps.length < 2; turns += 1) await sleep(20);
    await second.stop();
    assert.deepEqual(gaps, ["later", "later"]);
    assert.ok(!late.names().includes("parent"));
  });

  it("sends the same ids as another forwarder beside it", async () => {
    const { sent, apply, run } = start();
    const [one, two] = [run(), run()];
    await until(() => one.synced() && two.synced());
    apply("configmaps", "ConfigMap", "a");
    await until(() => sent.filter(({ message }) => message.name === "a").length === 2);
    await Promise.all([one.stop(), two.stop()]);
    assert.equal(new Set(sent.filter(({ message }) => message.name === "a").map(({ id }) => id)).size, 1);
  });

  it("keeps a message that the queue does not accept, and sends it once more when it stops", async () => {
    const taken: string[] = [];
    const tried: string[] = [];
    let open = false;
    const { apply, run } = start({
      send: async ({ name }) => {
        tried.push(name);
        if (!open) throw new Error("queue is away");
        taken.push(name);
      },
    });
    const forwarder = run();
    await until(() => forwarder.synced());
    apply("configmaps", "ConfigMap", "a");
    await until(() => tried.includes("a"));
    await settled();
    open = true;
    await forwarder.stop();
    assert.ok(taken.includes("a"));
  });

  it("sends a message again by itself", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
    const taken: string[] = [];
    const tried: string[] = [];
    const { apply, run } = start({
      send: async ({ name }) => {
        tried.push(name);
        if (tried.length <= 2) throw new Error("queue is away");
        taken.push(name);
      },
    });
    const forwarder = run();
    await until(() => forwarder.synced());
    apply("configmaps", "ConfigMap", "a");
    await until(() => tried.includes("a"));
    for (let turns = 0; turns < 20; turns += 1) {
      await settled();
      t.mock.timers.tick(200);
    }
    assert.ok(taken.includes("a"));
    await forwarder.stop();
  });

  it("stops although it waits for a server that does not answer", async () => {
    const hanging = { send: () => new Promise<never>(() => {}), stream: () => new Promise<never>(() => {}) };
    const forwarder = start({ transport: hanging }).run();
    await settled();
    assert.equal(forwarder.synced(), false);
    await forwarder.stop();
  });
});

describe("an unreachable server", () => {
  it("is logged at once and every half hour, however many tries there are in between", async () => {
    let now = 0;
    let tries = 0;
    const warned: number[] = [];
    const away = async (): Promise<never> => {
      throw new Error("connect ECONNREFUSED");
    };
    const { run } = start({
      transport: { send: away, stream: away },
      operators: [{ ...operator, watches: operator.watches.slice(0, 1) }],
      now: () => now,
      report: (level) => {
        if (level === "warn") warned.push(now);
      },
      pause: async () => {
        now += 60_000;
        tries += 1;
        await settled();
      },
    });
    const forwarder = run();
    await until(() => tries > 100);
    assert.deepEqual(warned.slice(0, 3), [0, 1_800_000, 3_600_000]);
    await forwarder.stop();
  });
});
