/**
 * The promises of a step: it saves before it acts, the loser touches nothing, it decides again and never replays, its
 * effects are fenced.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { get, list } from "../../../../shared/core/decision.ts";

import { step } from "../../../../shared/engine/reconcile/step.ts";
import {
  creation,
  decisionOf,
  eight,
  type Fixture,
  failing,
  message,
  openFixture,
  part,
  parts,
  refOf,
  type ToyPlan,
  toy,
  toys,
  writesIn,
} from "../fakes.ts";

const making = (names: readonly string[], more: Partial<ToyPlan> = {}): ToyPlan => ({
  memory: { count: 1 },
  stages: names.map((name) => [creation(name)]),
  ...more,
});

/** Sets a decision that saves the identity first, and rests once the part exists. */
const careful = (world: Fixture): void => {
  world.decide = function* ({ memory }) {
    const arm = yield* get({ do: "get", ref: refOf(parts, "arm") });
    return arm !== undefined
      ? { memory: memory ?? { count: 0 }, stages: [], next: { do: "rest" } }
      : making(["arm"], { safety: { fenced: true } });
  };
};

describe("R1: a step saves before it acts", () => {
  test("a step saves the memory before its first effect starts", async () => {
    const world = openFixture(() => making(["arm", "leg"]));
    await step(world.world, message);
    assert.deepEqual(writesIn(world.calls), ["save 1", "create parts arm", "create parts leg"]);
    assert.deepEqual(world.record()?.memory, { count: 1 });
  });

  test("the loser of two steps of one key touches nothing and comes back", async () => {
    const world = openFixture(() => making(["arm"]));
    world.before = async (call) => {
      if (call !== "save 1") return;
      world.before = () => {};
      await step(world.world, message);
    };
    const ending = await step(world.world, message);
    assert.deepEqual(ending, { did: "raced" });
    assert.deepEqual(writesIn(world.calls), ["save 1", "save 1", "create parts arm"]);
    const [back] = world.sent;
    assert.deepEqual([back?.message.reason, back?.delayMs], ["raced", 1_000]);
  });

  test("a step whose save may or may not have succeeded does nothing", async () => {
    const world = openFixture(() => making(["arm"]));
    world.after = (call) => {
      if (call === "save 1") throw failing(0, "Timeout");
    };
    assert.equal((await step(world.world, message)).did, "troubled");
    assert.equal(world.objects.has("parts arm"), false);
  });

  test("a plan that only deletes needs a save, too: the loser deletes nothing", async () => {
    const world = openFixture();
    await step(world.world, message);
    world.put({ ...part("arm"), metadata: { ...part("arm").metadata, uid: "old" } });
    const removal = { do: "delete", ref: refOf(parts, "arm"), uid: "old" } as const;
    let raceOn = true;
    world.decide = ({ memory }) => ({
      memory: memory ?? { count: 0 },
      stages: raceOn ? [[removal]] : [],
      safety: raceOn ? {} : { fenced: true },
    });
    world.before = async (call) => {
      if (call !== "save 2") return;
      Object.assign(world, { before: () => {} });
      raceOn = false;
      await step(world.world, message);
    };
    assert.deepEqual(await step(world.world, message), { did: "raced" });
    assert.ok(world.objects.has("parts arm"));
  });

  test("a fenced plan is saved again even if its memory is unchanged", async () => {
    const world = openFixture(() => ({ memory: { count: 1 }, stages: [], safety: { fenced: true } }));
    await step(world.world, message);
    await step(world.world, message);
    assert.deepEqual(writesIn(world.calls), ["save 1", "save 2"]);
  });
});

describe("R2: a step decides again, and never replays", () => {
  const deaths = ["save 1", "create parts arm", "patch toys bear"];
  for (const death of deaths) {
    for (const when of ["before", "after"] as const) {
      test(`a step that dies ${when} ${death} is followed by steps that end in the same state`, async () => {
        const world = openFixture();
        careful(world);
        const decide = world.decide;
        world.decide = function* (view) {
          return { ...(yield* decisionOf(decide(view))), status: { phase: "made" } };
        };
        const die = (call: string): void => {
          if (call === death) world.before = () => Promise.reject(new Error("dead"));
          if (call === death) throw new Error("dead");
        };
        world[when] = die;
        await assert.rejects(step(world.world, message), /dead/);
        Object.assign(world, { before: () => {}, after: () => {} });
        await step(world.world, message);
        await step(world.world, message);
        assert.ok(world.objects.has("parts arm"));
        assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "made" });
        assert.equal(world.record()?.rests, true);
      });
    }
  }

  test("the second step of a settled key writes nothing and sends nothing", async () => {
    const world = openFixture();
    careful(world);
    await step(world.world, message);
    await step(world.world, message);
    world.calls.length = 0;
    world.sent.length = 0;
    assert.deepEqual(await step(world.world, message), { did: "step", writes: 0 });
    assert.deepEqual([writesIn(world.calls), world.sent], [[], []]);
  });

  test("a step reads the object, whatever version the message names", async () => {
    const world = openFixture(({ object }) => ({ memory: { count: object?.metadata.generation ?? 0 }, stages: [] }));
    world.put(toy({ generation: 7 }));
    await step(world.world, { ...message, resourceVersion: "1" });
    assert.deepEqual(world.record()?.memory, { count: 7 });
  });

  test("a step answers every query live, and decides by the server's clock", async () => {
    const times: number[] = [];
    const world = openFixture(function* ({ now }) {
      times.push(now);
      const found = yield* list({ do: "list", resource: parts, namespace: "ns", labels: {} });
      return { memory: { count: found.length }, stages: [] };
    });
    world.put(part("arm"));
    await step(world.world, message);
    assert.deepEqual([world.record()?.memory, times], [{ count: 1 }, [eight]]);
  });
});

describe("a step whose patch finds that another writer was quicker", () => {
  /** Patches the arm, which `quicker` writers change first, then creates a leg, which waits for the arm. */
  const racing = (quicker: number): Fixture => {
    const world = openFixture();
    world.put(part("arm"));
    world.decide = function* ({ memory }) {
      const arm = yield* get({ do: "get", ref: refOf(parts, "arm") });
      if (arm === undefined) throw new Error("there is no arm");
      const { uid, resourceVersion } = arm.metadata;
      const patch = { do: "patch", ref: refOf(parts, "arm"), uid, resourceVersion, patch: { data: "new" } } as const;
      return { memory: memory ?? { count: 0 }, stages: [[patch], [creation("leg")]] };
    };
    let left = quicker;
    world.before = (call) => {
      const there = world.objects.get("parts arm");
      if (call === "patch parts arm" && there !== undefined && left > 0) {
        left -= 1;
        world.put({ ...there, data: "theirs" });
      }
    };
    return world;
  };

  test("decides again at once, so that what waits for the patch does not wait for the next step", async () => {
    const world = racing(1);
    assert.equal((await step(world.world, message)).did, "step");
    assert.deepEqual(
      writesIn(world.calls).filter((call) => call.includes("parts")),
      ["patch parts arm", "patch parts arm", "create parts leg"],
    );
    assert.equal(world.objects.get("parts arm")?.["data"], "new");
  });

  test("leaves a second one to the next step", async () => {
    const world = racing(2);
    assert.equal((await step(world.world, message)).did, "troubled");
    assert.equal(world.objects.has("parts leg"), false);
    assert.equal((await step(world.world, message)).did, "step");
    assert.equal(world.objects.get("parts arm")?.["data"], "new");
  });
});

describe("R3: a step's effects are fenced", () => {
  const cases = [
    { name: "an effect starts within the fence", afterSaveMs: 10_000, beforeMs: 0, made: true },
    { name: "no effect starts after the fence", afterSaveMs: 10_001, beforeMs: 0, made: false },
    { name: "no effect starts after the time limit of the step", afterSaveMs: 100, beforeMs: 19_950, made: false },
  ];
  for (const { name, afterSaveMs, beforeMs, made } of cases) {
    test(name, async () => {
      const world = openFixture(() => making(["arm"]));
      world.before = (call) => {
        if (call === "load") world.time.monotonic += beforeMs;
      };
      world.after = (call) => {
        if (call.startsWith("save")) world.time.monotonic += afterSaveMs;
      };
      const ending = await step(world.world, message);
      assert.deepEqual([world.objects.has("parts arm"), ending.did], [made, made ? "step" : "troubled"]);
    });
  }

  test("the second stage does not start if the fence passes after the first", async () => {
    const world = openFixture(() => making(["arm", "leg"]));
    world.after = (call) => {
      if (call === "create parts arm") world.time.monotonic += 10_001;
    };
    await step(world.world, message);
    assert.deepEqual([world.objects.has("parts arm"), world.objects.has("parts leg")], [true, false]);
  });

  test("a refusal returns to the decision, which may plan otherwise in the same step", async () => {
    const world = openFixture(({ refused }) =>
      refused.length === 0 ? making(["arm"]) : { memory: { count: 9 }, stages: [] },
    );
    world.before = (call) => {
      if (call === "create parts arm") throw failing(422, "Invalid");
    };
    assert.equal((await step(world.world, message)).did, "step");
    assert.deepEqual(world.record()?.memory, { count: 9 });
  });
});

test("the refusal of an optional effect is reported in one Event, and the step continues to its end", async () => {
  const wish = { do: "create", object: part("bell"), resource: parts, owner: "toy-1", optional: true } as const;
  const world = openFixture(() => ({
    memory: { count: 1 },
    stages: [[wish], [creation("arm")]],
    status: { phase: "made" },
  }));
  world.before = (call) => {
    if (call === "create parts bell") throw failing(403, "Forbidden");
  };
  assert.equal((await step(world.world, message)).did, "step");
  await step(world.world, message);
  const names = [...world.objects.keys()].filter((name) => !name.startsWith("toys"));
  assert.deepEqual([names.length, names.at(-1)], [2, "parts arm"]);
  assert.match(names[0] ?? "", /^events bear\./);
});

describe("a step leaves alone", () => {
  const idle = [
    { name: "another kind", message: { ...message, kind: "Doll" }, world: {}, object: toy() },
    { name: "a key out of its scope", message, world: { inCharge: () => false }, object: toy() },
    {
      name: "an object out of its scope",
      message,
      world: { inCharge: (_: unknown, object: unknown) => object === undefined },
      object: toy(),
    },
    { name: "a paused object", message, world: {}, object: toy({ annotations: { "rekindle.dev/paused": "true" } }) },
    {
      name: "an object that names another controller",
      message,
      world: {},
      object: { ...toy(), spec: { managedBy: "kueue.x-k8s.io/multikueue" } },
    },
    { name: "a name without an object", message: { ...message, name: "doll" }, world: {}, object: toy() },
  ];
  for (const { name, message: asked, world: more, object } of idle) {
    test(name, async () => {
      const world = openFixture(() => making(["arm"], { status: { phase: "made" }, next: { do: "again" } }));
      world.put(object);
      const ending = await step({ ...world.world, ...more }, asked);
      assert.equal(ending.did, "nothing");
      assert.deepEqual([writesIn(world.calls), world.sent], [[], []]);
    });
  }

  test("a key out of its scope without a read", async () => {
    const world = openFixture();
    await step({ ...world.world, inCharge: () => false }, message);
    assert.deepEqual(world.calls, []);
  });

  test("a key whose scope cannot be determined, reads nothing of it, and tries again later", async () => {
    const world = openFixture();
    const inCharge = () => Promise.reject(failing(500, "InternalError"));
    const ending = await step({ ...world.world, inCharge }, message);
    assert.deepEqual([ending.did, world.calls], ["troubled", []]);
    assert.deepEqual(
      world.sent.map(({ message: again }) => [again.reason, again.tries]),
      [["retry", 1]],
    );
  });

  test("an object only while its annotation for a pause has the value true", async () => {
    const world = openFixture(() => making(["arm"]));
    world.put(toy({ annotations: { "rekindle.dev/paused": "false" } }));
    await step(world.world, message);
    assert.ok(world.objects.has("parts arm"));
  });

  test("every object in shadow mode: it reports the plan, and writes nothing, not even a lasting trouble", async () => {
    const told: unknown[] = [];
    const world = openFixture(() => making(["arm"], { status: { phase: "made" }, next: { do: "again" } }));
    const shadow = {
      ...world.world,
      shadow: (_: unknown, { stages }: { readonly stages: readonly unknown[] }) => told.push(stages.length),
    };
    await step(shadow, message);
    world.decide = function* () {
      yield* get({ do: "get", ref: refOf(parts, "arm") });
      return making(["arm"]);
    };
    world.before = (call) => {
      if (call === "get parts arm") throw failing(403, "Forbidden");
    };
    await step(shadow, { ...message, tries: 5 });
    assert.deepEqual([told, writesIn(world.calls)], [[1], []]);
  });
});

test("every resource but the one of its kind", async () => {
  const world = openFixture();
  await step(world.world, message);
  assert.deepEqual(world.calls.slice(0, 2), ["load", `get ${toys.plural} bear`]);
});
