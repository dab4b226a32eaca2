/** A step creates nothing later than the fence after its first read; the next step relies on that time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { settledMs, timing } from "../../../shared/engine/settings.ts";
import { creation, type Fixture, message, openFixture, part, parts, refOf, type ToyPlan, toy } from "./fakes.ts";

/** A toy whose plan creates an arm. */
const opened = (): { readonly world: Fixture; readonly looks: number[] } => {
  const looks: number[] = [];
  const world = openFixture(({ now }) => {
    looks.push(now);
    return { memory: { count: now }, stages: [[creation("arm")]] };
  });
  world.put(toy());
  return { world, looks };
};

type Pause = { readonly at: string; readonly ms: number; readonly times?: number };

/** Advances time in calls of these names, `times` times each, on the server's clock and on the monotonic clock. */
const passing = (world: Fixture, pauses: readonly Pause[]): void => {
  const left = pauses.map(({ at, ms, times = 1 }) => ({ at, ms, times }));
  world.before = (call) => {
    const pause = left.find(({ at, times }) => times > 0 && call.startsWith(at));
    if (pause === undefined) return;
    pause.times -= 1;
    world.time.monotonic += pause.ms;
    world.time.now += pause.ms;
  };
};

const has = (world: Fixture): boolean => world.objects.has("parts arm");

describe("a planned creation", () => {
  const rows: readonly { why: string; pauses: readonly Pause[]; made: boolean; looks: number }[] = [
    { why: "starts if the save ends exactly at the fence", pauses: [{ at: "save", ms: 10_000 }], made: true, looks: 1 },
    {
      why: "does not start if the save took longer than the fence",
      pauses: [{ at: "save", ms: 10_001 }],
      made: false,
      looks: 1,
    },
    {
      why: "does not start if read and save together took longer than the fence",
      pauses: [
        { at: "get", ms: 5_000 },
        { at: "save", ms: 5_001 },
      ],
      made: false,
      looks: 1,
    },
    {
      why: "is decided again on a new read if the first read took half of the fence, and then has the whole fence",
      pauses: [
        { at: "get", ms: 5_001 },
        { at: "save", ms: 10_000 },
      ],
      made: true,
      looks: 2,
    },
    {
      why: "is decided again only once, and then starts within the rest of the fence",
      pauses: [{ at: "get", ms: 6_000, times: 9 }],
      made: true,
      looks: 2,
    },
    {
      why: "does not start if the second read was too slow, too",
      pauses: [
        { at: "get", ms: 6_000, times: 2 },
        { at: "save", ms: 4_001 },
      ],
      made: false,
      looks: 2,
    },
  ];
  for (const { why, pauses, made, looks: count } of rows)
    test(why, async () => {
      const { world, looks } = opened();
      passing(world, pauses);
      const { did } = await step(world.world, message);
      assert.deepEqual([has(world), looks.length, did], [made, count, made ? "step" : "troubled"]);
    });

  test("starts early enough that a step that counts from the same read finds every object created", async () => {
    const { world, looks } = opened();
    passing(world, [{ at: "get", ms: 5_000 }]);
    let begins = 0;
    world.after = (call) => {
      if (call.startsWith("save")) world.time.monotonic += 4_999;
      if (call === "create parts arm") begins = world.time.monotonic;
    };
    const before = world.time.monotonic;
    await step(world.world, message);
    assert.ok(has(world) && looks.length === 1);
    assert.ok(begins - before + timing.requestTimeoutMs < settledMs(timing));
  });
});

describe("a planned deletion", () => {
  test("has the whole fence after the save, however long the read took, because it names the UID", async () => {
    const old = part("old");
    const plan = (uid: string): ToyPlan => ({
      memory: { count: 1 },
      stages: [[{ do: "delete", ref: refOf(parts, "old"), uid }]],
    });
    const world = openFixture(() => plan("uid-old"));
    world.put(toy());
    world.put({ ...old, metadata: { ...old.metadata, uid: "uid-old" } });
    passing(world, [
      { at: "get", ms: 8_000 },
      { at: "save", ms: 9_000 },
    ]);
    assert.equal((await step(world.world, message)).did, "step");
    assert.equal(world.objects.has("parts old"), false);
  });
});
