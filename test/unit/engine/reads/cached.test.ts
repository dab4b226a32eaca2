/** A step on the cache of its process: two requests for a creation, and live reads where only a read is sure. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { list, type Reads } from "../../../../shared/core/decision.ts";
import { type Key, type Message, textOf } from "../../../../shared/core/key.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Looking, View } from "../../../../shared/core/plan.ts";
import { dateAt } from "../../../../shared/core/time.ts";
import type { CachedStep, StepCache, World } from "../../../../shared/engine/context/world.ts";
import { openSlots } from "../../../../shared/engine/load-limits.ts";
import { merged } from "../../../../shared/engine/reconcile/intake.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { timing } from "../../../../shared/engine/settings.ts";
import {
  creation,
  eight,
  type Fixture,
  message,
  openFixture,
  parts,
  refOf,
  type Toy,
  type ToyPlan,
  toy,
  writesIn,
} from "../fakes.ts";

const watched = { ...message, watched: true } as const;
const query: Looking = { do: "list", resource: parts, namespace: "ns", labels: {} };

type Knowing = {
  readonly world: World;
  readonly fixture: Fixture;
  readonly kept: Map<string, CachedStep>;
  seen: readonly Stored[];
};

/** A decision that creates one more part at each step; `more` is added to every plan. */
const growing = (more: (view: View<Toy>) => Partial<ToyPlan>) =>
  function* (view: View<Toy>): Reads<ToyPlan> {
    yield* list(query);
    const count = (view.memory?.count ?? 0) + 1;
    return { memory: { count }, stages: [[creation(`part-${count}`)]], ...more(view) };
  };

/** Saves the record as another process does. */
const saveByAnother = async ({ checkpoints, record }: Fixture): Promise<void> => {
  const loaded = await checkpoints.load(message);
  const before = record();
  assert.ok(before !== undefined);
  await checkpoints.save(message, { ...before, saves: 7, memory: { count: 7 } }, loaded?.version);
};

/** Lets the watch answer the list. */
const watching = (world: World): World => ({
  ...world,
  operatorOf: (kind) => {
    const operator = world.operatorOf(kind);
    return operator === undefined ? undefined : { ...operator, watched: () => [query] };
  },
});

/** A world after one live step, which its cache holds. */
const knowing = async (more: (view: View<Toy>) => Partial<ToyPlan> = () => ({})): Promise<Knowing> => {
  const there = openFixture(growing(more));
  const kept = new Map<string, CachedStep>();
  const knows: { seen: readonly Stored[] } = { seen: [] };
  const cache: StepCache = {
    take: (key: Key) => {
      const found = kept.get(textOf(key));
      kept.delete(textOf(key));
      return found;
    },
    keep: (key, recollection) => void kept.set(textOf(key), recollection),
    appeared: () => undefined,
    changed: () => undefined,
    made: () => {},
    invalidate: () => {},
    look: () => knows.seen,
  };
  const world = watching({ ...there.world, cache });
  await step(world, message);
  there.calls.length = 0;
  return { world, fixture: there, kept, ...knows };
};

describe("a step for a watched change", () => {
  test("decides on the cache at once: it saves, and does what it planned", async () => {
    const { world, fixture: there } = await knowing();
    await step(world, watched);
    assert.deepEqual(there.calls, ["save 2", "create parts part-2"]);
    await step(world, watched);
    assert.deepEqual(there.calls.slice(2), ["save 3", "create parts part-3"]);
  });

  const others = [
    ["was started by a timer", { ...message, reason: "timer" }],
    ["is a retry after trouble", { ...watched, tries: 1 }],
  ] as const;
  for (const [why, called] of others)
    test(`reads live first if it ${why}`, async () => {
      const { world, fixture: there } = await knowing(() => ({ next: { do: "wait", pollMs: 15_000 } }));
      await step(world, called);
      assert.deepEqual(there.calls.slice(0, 3), ["load", "get toys bear", "list parts"]);
    });

  test("reads live first if its messages include one that was not watched", () => {
    assert.equal(merged([watched, watched]).watched, true);
    assert.equal(merged([message, watched]).watched, undefined);
  });

  test("reads live in shadow mode", async () => {
    const { world, fixture: there } = await knowing();
    await step({ ...world, shadow: () => {} }, watched);
    assert.equal(there.calls[0], "load");
  });
});

describe("the object that a step leaves in the cache after its status write", () => {
  const left = async (generation: number): Promise<readonly [read: unknown, left: Stored | undefined]> => {
    const { world, fixture: there, kept } = await knowing(({ memory }) => ({ status: { at: memory?.count ?? 0 } }));
    const { spec } = there.put({ ...toy(), spec: { colour: "brown" } });
    const patchStatus: World["cluster"]["patchStatus"] = async (...call) => {
      const answer = structuredClone(await world.cluster.patchStatus(...call));
      return { ...answer, metadata: { ...answer.metadata, generation } };
    };
    await step({ ...world, cluster: { ...world.cluster, patchStatus } }, message);
    return [spec, kept.get(textOf(message))?.object];
  };

  test("has the very spec that the step read, so that nothing is derived from it again", async () => {
    const [spec, object] = await left(1);
    assert.deepEqual(object?.["status"], { at: 1 });
    assert.equal(object?.["spec"], spec);
  });

  test("has the spec of the answer if that is of another generation", async () => {
    const [spec, object] = await left(2);
    assert.deepEqual(object?.["spec"], spec);
    assert.notEqual(object?.["spec"], spec);
  });
});

describe("a plan that needs live reads", () => {
  test("is decided again on them, and no effect of the first plan starts", async () => {
    const removing = ({ now }: View<Toy>): Partial<ToyPlan> =>
      now > eight
        ? { stages: [[{ do: "delete", ref: refOf(parts, "part-1"), uid: "u" }]], safety: { live: true } }
        : {};
    const { world, fixture: there } = await knowing(removing);
    there.time.now += 1_000;
    there.time.monotonic += 1_000;
    await step(world, watched);
    assert.deepEqual(there.calls, ["load", "get toys bear", "list parts", "save 2", "remove parts part-1"]);
  });

  test("leaves the end of its step in the cache, unless its kind has no watched reads or its record is deleted", async () => {
    assert.equal((await knowing(() => ({ safety: { live: true } }))).kept.size, 1);
    assert.equal((await knowing(() => ({ stages: [], next: { do: "forget" } }))).kept.size, 0);
    const { world, fixture: there, kept } = await knowing();
    kept.clear();
    await step({ ...world, operatorOf: there.world.operatorOf }, message);
    assert.equal(kept.size, 0);
  });
});

describe("a kind whose steps begin with the watch", () => {
  const watchful = async (more: (view: View<Toy>) => Partial<ToyPlan> = () => ({})): Promise<Knowing> => {
    const knows = await knowing(more);
    knows.kept.clear();
    return knows;
  };

  test("reads record and object if the cache has none, and lists nothing", async () => {
    const { world, fixture: there } = await watchful();
    await step(world, watched);
    assert.deepEqual(there.calls, ["load", "get toys bear", "save 2", "create parts part-2"]);
  });

  test("reads everything if the change was not watched, or if its plan needs live reads", async () => {
    const { world, fixture: there } = await watchful(({ memory }) =>
      memory === undefined ? {} : { safety: { live: true } },
    );
    await step(world, message);
    assert.deepEqual(there.calls.slice(0, 3), ["load", "get toys bear", "list parts"]);
    there.calls.length = 0;
    await step(world, watched);
    assert.deepEqual(there.calls.slice(0, 3), ["load", "get toys bear", "list parts"]);
  });

  test("continues with the watch if its plan says again", async () => {
    const { world, fixture: there } = await watchful(({ memory }) =>
      memory?.count === 1 ? { next: { do: "again" } } : {},
    );
    await step(world, watched);
    assert.deepEqual(
      there.sent.map(({ message: { reason, watched: so } }) => [reason, so]),
      [["again", true]],
    );
  });
});

describe("a step of such a kind whose object has changed since the last one", () => {
  /** `shown`: the object as the watch has it whole. */
  const changed = async (shown: Stored | undefined, isWatched = true) => {
    const sizes: unknown[] = [];
    const knows = await knowing(({ object }) => {
      sizes.push(object?.["spec"]);
      return {};
    });
    const { world, kept, fixture: there } = knows;
    const stored = kept.get(textOf(message));
    assert.ok(world.cache !== undefined && stored !== undefined);
    const epoch = { date: there.time.now, at: there.time.monotonic };
    const cache = { ...world.cache, take: () => undefined, changed: () => ({ step: stored, object: shown, epoch }) };
    const operatorOf = isWatched ? world.operatorOf : there.world.operatorOf;
    return { ...knows, sizes, world: { ...world, cache, operatorOf } };
  };

  test("decides on the object as the watch shows it, with the record of the last step", async () => {
    const { world, fixture: there, sizes } = await changed({ ...toy(), spec: { size: 7 } });
    await step(world, watched);
    assert.deepEqual(there.calls, ["save 2", "create parts part-2"]);
    assert.deepEqual(sizes.at(-1), { size: 7 });
  });

  test("reads the object alone if the watch does not have it whole", async () => {
    const { world, fixture: there } = await changed(undefined);
    await step(world, watched);
    assert.deepEqual(there.calls, ["get toys bear", "save 2", "create parts part-2"]);
  });

  test("reads the object if the last reading of the server's clock is old", async () => {
    const { world, fixture: there } = await changed(toy());
    there.time.monotonic += 60_001;
    there.time.now += 60_001;
    await step(world, watched);
    assert.equal(there.calls[0], "get toys bear");
  });

  test("loses the save if another process has saved since, and then reads everything", async () => {
    const { world, fixture: there } = await changed(toy());
    await saveByAnother(there);
    await step(world, watched);
    assert.deepEqual(writesIn(there.calls), ["save 2", "save 8", "create parts part-8"]);
  });

  const { metadata } = toy();
  const others: readonly (readonly [why: string, shown: Stored, isWatched?: boolean])[] = [
    ["it is another object of the name", { ...toy(), metadata: { ...metadata, uid: "other" } }],
    ["it is being deleted", { ...toy(), metadata: { ...metadata, deletionTimestamp: "2026-11-02T08:00:00Z" } }],
    ["it is older than the record", { ...toy(), metadata: { ...metadata, generation: 0 } }],
    ["its kind does not begin with the watch", toy(), false],
  ];
  for (const [why, shown, isWatched] of others)
    test(`reads record and object if ${why}`, async () => {
      const { world, fixture: there } = await changed(shown, isWatched);
      await step(world, watched);
      assert.deepEqual(there.calls.slice(0, 2), ["load", "get toys bear"]);
    });
});

describe("a step of such a kind that creates many objects", () => {
  const many = Array.from({ length: timing.parallel }, (_, at) => creation(`many-${at}`));
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** A step that begins while another one has the only slot. */
  const waiting = async (called: Message, more: Partial<ToyPlan> = {}) => {
    const knows = await knowing(({ memory }) => (memory === undefined ? {} : { stages: [many], ...more }));
    const creators = openSlots(1);
    const first = creators();
    await first.enter();
    const ended = step({ ...knows.world, creators }, called);
    await turn();
    return { ...knows, first, ended, creators };
  };

  test("waits for its turn before it saves, decides again on the cache, and needs no read more", async () => {
    const { fixture: there, first, ended } = await waiting(watched);
    assert.deepEqual(there.calls, []);
    there.time.monotonic += 60_000;
    there.time.now += 60_000;
    first.leave();
    assert.equal((await ended).did, "step");
    assert.deepEqual(there.calls, ["save 2", ...many.map((_, at) => `create parts many-${at}`)]);
  });

  test("reads live again after its turn if it has begun so, and frees its slot at its end", async () => {
    const { fixture: there, first, ended, creators } = await waiting({ ...watched, tries: 1 });
    assert.deepEqual(there.calls, ["load", "get toys bear", "list parts"]);
    first.leave();
    await ended;
    assert.deepEqual(there.calls.slice(3, 7), ["load", "get toys bear", "list parts", "save 2"]);
    assert.equal(await creators().enter(), "at once");
  });

  const others = [
    ["it creates fewer", { stages: [many.slice(1)] }],
    ["its plan is fenced, which has slots of its own", { safety: { fenced: true } }],
  ] as const;
  for (const [why, more] of others)
    test(`does not wait if ${why}`, async () => {
      const { ended } = await waiting(watched, more);
      assert.equal((await ended).did, "step");
    });
});

describe("a step on the cache of its process", () => {
  test("loses the save before any effect if another process has saved since, and then reads the record", async () => {
    const { world, fixture: there } = await knowing();
    await saveByAnother(there);
    await step(world, watched);
    assert.deepEqual(writesIn(there.calls), ["save 2", "save 8", "create parts part-8"]);
  });

  test("has a fence that counts from the instant of its clock, up to a second ago", async () => {
    const begun = await Promise.all(
      [9_001, 9_002].map(async (saveMs) => {
        const { world, fixture: there } = await knowing();
        there.time.monotonic += 999;
        there.after = (call) => {
          if (call.startsWith("save")) there.time.monotonic += saveMs;
        };
        await step(world, watched);
        return there.objects.has("parts part-2");
      }),
    );
    assert.deepEqual(begun, [true, false]);
  });

  test("keeps a reading of the server's clock that does not run ahead, however long its reads took", async () => {
    const { world, fixture: there, kept } = await knowing();
    there.before = (call) => {
      if (call !== "load") return;
      there.time.now += 4_000;
      there.time.monotonic += 4_000;
    };
    await step(world, message);
    const { epoch } = kept.get(textOf(message)) ?? assert.fail("nothing is kept");
    assert.equal(dateAt(epoch, there.time.monotonic), there.time.now);
  });

  test("leaves no entry in the cache if it fails", async () => {
    const { world, fixture: there, kept } = await knowing();
    there.before = (call) => {
      if (call.startsWith("create")) throw new Error("the wire was cut");
    };
    await step(world, watched);
    assert.equal(kept.size, 0);
  });
});

test("the server's clock is carried along in whole seconds, and never runs ahead", () => {
  const epoch = { date: eight, at: 500 };
  assert.deepEqual(
    [400, 500, 1_499, 1_500, 4_999].map((at) => dateAt(epoch, at) - eight),
    [0, 0, 0, 1_000, 4_000],
  );
});
