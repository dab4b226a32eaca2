/** Windows of forwarding on the simulated cluster: no change is missed, whatever happens in or between them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { ForwarderSettings } from "../../../shared/forward/forwarder.ts";
import type { Windows } from "../../../shared/forward/windows.ts";
import { never, open, strayOf, turns } from "./watched.ts";

describe("a window", () => {
  it("begins with a list, and saves its cursors", async () => {
    const { create, run, news, checkpoints } = open();
    create("a");
    assert.deepEqual(await run(), { sent: true, resumed: 0, loops: 2 });
    assert.ok(news().includes("a"));
    const records = [...checkpoints.all()].map(([key, text]) => [key.replace(/\.[0-9a-f]{10}$/, ".…"), text]);
    assert.deepEqual(
      records.map(([key]) => key),
      ["c1/Cursor/default/configmaps", "c1/Cursor/default/secrets.…"],
    );
    assert.ok(records.every(([, text]) => /"memory":\{"at":"\d+"\}/.test(text ?? "")));
  });

  it("continues where another instance ended, and sends exactly the changes since", async () => {
    const { create, change, remove, child, run, news, asked } = open();
    for (const name of ["stays", "changes", "goes"]) create(name);
    await run();
    news();
    change("changes", "2");
    remove("configmaps", "goes");
    create("comes");
    child("pod", "parent");
    asked.length = 0;
    assert.deepEqual(await run(), { sent: true, resumed: 2, loops: 2 });
    assert.deepEqual(news(), ["changes", "comes", "goes", "parent"]);
    assert.deepEqual(asked, []);
  });

  it("sends a change whose former state it does not know, even if the change may not matter", async () => {
    const { create, touch, run, news } = open();
    create("a");
    await run();
    news();
    touch("a", "x");
    await run();
    assert.deepEqual(news(), ["a"]);
  });

  it("of the same instance knows the former state, and does not send a change that does not matter", async () => {
    const { create, touch, change, instance, run, news } = open();
    for (const name of ["a", "b"]) create(name);
    const warm = instance();
    await run(warm);
    news();
    touch("a", "x");
    change("b", "2");
    await run(warm);
    assert.deepEqual(news(), ["b"]);
  });

  it("without a change writes nothing", async () => {
    const { create, instance, run, checkpoints, world } = open();
    create("a");
    const warm = instance();
    await run(warm);
    const before = new Map(checkpoints.all());
    for (let windows = 0; windows < 20; windows += 1) await run(warm);
    await run(instance());
    assert.deepEqual(new Map(checkpoints.all()), before);
    assert.ok(world.time >= 400_000);
  });

  it("whose messages the queue does not accept is repeated", async () => {
    const { create, world, instance, run, news } = open();
    const warm = instance();
    await run(warm);
    news();
    create("a");
    world.takes = false;
    assert.equal((await run(warm)).sent, false);
    world.takes = true;
    await run(warm);
    assert.deepEqual(news(), ["a"]);
  });

  it("that dies is repeated by the next", async () => {
    const { create, instance, run, news } = open();
    await run();
    news();
    const dying = instance({ send: () => new Promise(() => {}) }).run(20_000, never);
    create("a");
    await turns();
    await run();
    assert.deepEqual(news(), ["a"]);
    assert.equal(await Promise.race([dying, turns(1).then(() => "hangs")]), "hangs");
  });

  it("ends as soon as the signal is raised, and saves its cursors", async () => {
    const { create, instance, news, run } = open();
    const stop = new AbortController();
    create("a");
    const wait = async (): Promise<void> => {
      await turns();
      stop.abort();
    };
    assert.equal((await instance({ wait }).run(Number.MAX_SAFE_INTEGER, stop.signal)).sent, true);
    assert.ok(news().includes("a"));
    assert.equal((await run()).resumed, 2);
  });
});

describe("a window with a look", () => {
  const lookMs = 500;

  /** Runs a window of a minute, and returns its length. */
  const lengthOf = async ({ world }: ReturnType<typeof open>, windows: Windows) => {
    const from = world.time;
    assert.equal((await windows.run(60_000, never, lookMs)).sent, true);
    return world.time - from;
  };

  it("ends after the look if nothing has happened since the last window, and writes nothing", async () => {
    const near = open();
    near.create("a");
    const warm = near.instance();
    assert.equal(await lengthOf(near, warm), 60_000);
    near.news();
    const before = new Map(near.checkpoints.all());
    for (let windows = 0; windows < 20; windows += 1) assert.equal(await lengthOf(near, warm), lookMs);
    assert.equal(await lengthOf(near, near.instance()), lookMs);
    assert.deepEqual(new Map(near.checkpoints.all()), before);
    assert.deepEqual(near.news(), []);
  });

  it("lasts its whole time after a change between windows, and sends it", async () => {
    const near = open();
    near.create("a");
    await near.run();
    near.news();
    near.change("a", "2");
    near.create("b");
    assert.equal(await lengthOf(near, near.instance()), 60_000);
    assert.deepEqual(near.news(), ["a", "b"]);
  });

  it("lasts its whole time after a change whose news waits, and sends it at its end", async () => {
    const near = open();
    const warm = near.instance({
      patientMs: 60_000,
      operators: near.operators.map((one) => ({
        ...one,
        watches: one.watches.map((watch) => ({ ...watch, patience: () => "long" as const })),
      })),
    });
    near.create("a");
    await near.run(warm);
    near.news();
    near.child("pod", "a");
    assert.equal(await lengthOf(near, warm), 60_000);
    assert.deepEqual(near.news(), ["a"]);
  });

  it("ends after a look that has seen a change without a meaning for any key", async () => {
    const near = open();
    near.create("a");
    const warm = near.instance();
    await near.run(warm);
    near.news();
    near.touch("a", "x");
    assert.equal(await lengthOf(near, warm), lookMs);
    assert.deepEqual(near.news(), []);
  });

  it("lasts its whole time if the server has not answered each watch within the look", async () => {
    const near = open();
    near.create("a");
    await near.run();
    const { transport } = near.simulator;
    let unanswered = "/none";
    const stream: typeof transport.stream = (request) =>
      request.path.includes(unanswered) ? new Promise(() => {}) : transport.stream(request);
    const warm = near.instance({ transport: { send: transport.send, stream } });
    assert.equal(await lengthOf(near, warm), lookMs);
    unanswered = "/secrets";
    assert.equal(await lengthOf(near, warm), 60_000);
    unanswered = "/none";
    assert.equal(await lengthOf(near, warm), lookMs);
  });

  it("is no longer than the window", async () => {
    const near = open();
    await near.run();
    const from = near.world.time;
    await near.instance().run(300, never, lookMs);
    assert.equal(near.world.time - from, 300);
  });
});

describe("a cursor", () => {
  it("that the server has forgotten leads to a new list, and the keys of deleted objects are sent", async () => {
    const { create, simulator, run, instance, news, remove } = open();
    for (const name of ["stays", "goes"]) create(name);
    await run();
    news();
    remove("configmaps", "goes");
    simulator.store.compact(simulator.store.revision());
    const strays: ForwarderSettings["strays"] = async ({ subject }, { known }) =>
      subject.resource.kind === "ConfigMap" && !known.has("default", "goes") && known.has("default", "stays")
        ? [strayOf("goes")]
        : [];
    await run(instance({ strays }));
    const names = news();
    assert.ok(names.includes("stays") && names.includes("goes"), names.join(" "));
  });

  it("is not saved while the deleted objects are unknown", async () => {
    const { create, run, instance, checkpoints } = open();
    create("a");
    const strays = (): Promise<never> => Promise.reject(new Error("the server is away"));
    assert.equal((await run(instance({ strays }))).sent, false);
    assert.equal(checkpoints.all().size, 0);
    assert.equal((await run()).resumed, 0);
  });

  it("of another cluster is ignored", async () => {
    const { create, world, run, news } = open();
    create("a");
    await run();
    news();
    world.clusterUid = "cluster-2";
    assert.equal((await run()).resumed, 0);
    assert.ok(news().includes("a"));
  });

  it("that cannot be saved is logged, and the messages are sent nevertheless", async () => {
    const { create, lines, run, instance, news } = open();
    create("a");
    const cursors = { load: async () => undefined, save: () => Promise.reject(new Error("Forbidden")) };
    assert.equal((await run(instance({ cursors }))).sent, true);
    assert.ok(news().includes("a"));
    assert.ok(lines.some((line) => line.startsWith("cannot save the cursor")));
  });

  it("of two simultaneous windows is saved by one, and both have sent everything", async () => {
    const { create, run, instance, news, world } = open();
    await run();
    news();
    const both = Promise.all([run(instance()), run(instance())]);
    create("a");
    assert.deepEqual(
      (await both).map(({ sent }) => sent),
      [true, true],
    );
    assert.deepEqual(news(), ["a"]);
    assert.equal((await run()).resumed, 2);
    assert.ok(world.time > 0);
  });
});

type Act = "create" | "change" | "remove" | "child" | "forget" | "window" | "fresh window" | "dead window" | "no queue";
const acts: readonly Act[] = [
  "forget",
  "create",
  "change",
  "remove",
  "child",
  "window",
  "fresh window",
  "dead window",
  "no queue",
];

it("windows send the last change of every object, whatever happens between and in them", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...acts), { maxLength: 25 }), async (sequence) => {
      const { create, change, remove, child, run, news, world, simulator, ...watched } = open();
      const living: string[] = [];
      const owed = new Set<string>();
      const told = new Set<string>();
      const hear = (): void => {
        for (const name of news()) {
          owed.delete(name);
          told.add(name);
        }
      };
      const strays: ForwarderSettings["strays"] = async ({ subject }, { known }) =>
        subject.resource.kind === "ConfigMap"
          ? [...told].filter((name) => name.startsWith("o") && !known.has("default", name)).map(strayOf)
          : [];
      const instance = (more = {}) => watched.instance({ strays, ...more });
      let serial = 0;
      let warm = instance();
      const perform: Record<Act, () => Promise<void> | void> = {
        create: () => {
          serial += 1;
          create(`o${serial}`, { v: "0" });
          living.push(`o${serial}`);
          owed.add(`o${serial}`);
        },
        change: () => {
          const name = living[serial % Math.max(1, living.length)];
          serial += 1;
          if (name === undefined) return;
          change(name, `${serial}`);
          owed.add(name);
        },
        remove: () => {
          const name = living.pop();
          if (name === undefined) return;
          remove("configmaps", name);
          // No key of this object was ever sent, so its deletion owes none.
          if (told.has(name)) owed.add(name);
          else owed.delete(name);
        },
        child: () => {
          serial += 1;
          child(`c${serial}`, `p${serial}`);
          owed.add(`p${serial}`);
        },
        forget: () => simulator.store.compact(simulator.store.revision()),
        window: async () => void (await run(warm)),
        "fresh window": async () => {
          warm = instance();
          await run(warm);
        },
        "dead window": async () => {
          void instance({ send: () => new Promise(() => {}) }).run(20_000, never);
          await turns();
        },
        "no queue": async () => {
          world.takes = false;
          await run(warm);
          world.takes = true;
        },
      };
      for (const act of sequence) {
        await perform[act]();
        hear();
      }
      await run(warm);
      hear();
      assert.deepEqual([...owed], []);
    }),
    { numRuns: 60 },
  );
});
