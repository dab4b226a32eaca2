/** Past waits and times of saves: what each save derives from the record that it replaces. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../../../../shared/core/waiting-on.ts";
import { timelineAfter, timelineKept, timelineUntroubled } from "../../../../shared/engine/checkpoint/timeline.ts";
import type { CheckpointRecord } from "../../../../shared/engine/ports.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { eight, failing, message, openFixture, writesIn } from "../fakes.ts";

type Held = { readonly timeline?: CheckpointRecord["timeline"]; readonly waitsFor?: string | undefined };

/** The record after saves, each with its second and its reason. */
const after = (saves: readonly (readonly [at: number, waitsFor: string | undefined])[], first: Held = {}): Held =>
  saves.reduce<Held>(
    (held, [at, waitsFor]) => ({ timeline: timelineAfter(held, waitsFor, at * 1_000), waitsFor }),
    first,
  );

describe("the timeline of a record", () => {
  const rows: readonly (readonly [says: string, saves: Parameters<typeof after>[0], timeline: Held["timeline"]])[] = [
    ["has no wait where none was", [[10, undefined]], { saves: [10] }],
    [
      "has the present wait from the first save with it",
      [
        [10, "a"],
        [20, "a"],
      ],
      { waiting: ["a", 10], saves: [10, 20] },
    ],
    [
      "has a wait from its first save until the save that replaces it",
      [
        [10, "a"],
        [20, "a"],
        [30, "b"],
        [40, undefined],
      ],
      {
        waits: [
          ["a", 10, 30],
          ["b", 30, 40],
        ],
        saves: [10, 20, 30, 40],
      },
    ],
    [
      "goes on with a wait whose numbers change, under its latest text",
      [
        [10, "5 pods"],
        [20, "3 pods"],
        [30, "b"],
      ],
      { waits: [["3 pods", 10, 30]], waiting: ["b", 30], saves: [10, 20, 30] },
    ],
    [
      "has no wait that took no time",
      [
        [10, "a"],
        [10, "b"],
      ],
      { waiting: ["b", 10], saves: [10] },
    ],
    [
      "goes on with a wait that was replaced for no time",
      [
        [10, "a"],
        [20, "b"],
        [20, "a"],
        [30, "c"],
      ],
      { waits: [["a", 10, 30]], waiting: ["c", 30], saves: [10, 20, 30] },
    ],
    [
      "has a wait twice that was another one for a second",
      [
        [10, "a"],
        [20, "b"],
        [21, "a"],
        [30, undefined],
      ],
      {
        waits: [
          ["a", 10, 20],
          ["b", 20, 21],
          ["a", 21, 30],
        ],
        saves: [10, 20, 21, 30],
      },
    ],
  ];
  for (const [says, saves, timeline] of rows)
    test(says, () => {
      assert.deepEqual(after(saves).timeline, timeline);
    });

  test("keeps the latest 20 past waits and the latest 20 times, and short reasons", () => {
    const saves = Array.from({ length: 60 }, (_, at) => [at, `${at % 2 === 0 ? "a" : "b"}${"x".repeat(500)}`] as const);
    const { waits = [], saves: times = [] } = after(saves).timeline ?? {};
    assert.deepEqual([waits.length, times.length, waits[0]?.[1], times.at(-1)], [20, 20, 39, 59]);
    assert.ok(waits.every(([reason]) => reason.length === 200));
    assert.ok(JSON.stringify(after(saves).timeline).length < 6_000);
  });

  test("of a record of before begins with the next wait, because the begin of the present one is not known", () => {
    assert.deepEqual(
      after(
        [
          [50, "a"],
          [60, "b"],
          [70, undefined],
        ],
        { waitsFor: "a" },
      ).timeline,
      {
        waits: [
          ["a", 50, 60],
          ["b", 60, 70],
        ],
        saves: [50, 60, 70],
      },
    );
  });

  test("takes no wait of a version that keeps none for the wait that was there before", () => {
    const kept = after([
      [10, "a"],
      [20, "a"],
    ]);
    const others = { ...kept, waitsFor: "b" };
    assert.deepEqual(after([[90, "b"]], others).timeline, {
      waits: [["a", 10, 20]],
      waiting: ["b", 90],
      saves: [10, 20, 90],
    });
    assert.deepEqual(after([[90, undefined]], others).timeline, { waits: [["a", 10, 20]], saves: [10, 20, 90] });
  });

  test("has a trouble that is over as a wait for the platform", () => {
    const trouble = { reason: "Forbidden", message: "no pods", since: 12_000 };
    const record = { schema: 1, cluster: "c", uid: "u", saves: 2, memory: {}, trouble, ...after([[10, "a"]]) } as const;
    assert.deepEqual(timelineUntroubled(record, 19_000), {
      waits: [["the platform (Forbidden): no pods", 12, 19]],
      waiting: ["a", 10],
      saves: [10, 19],
    });
    assert.deepEqual(timelineKept(record, 19_000), { waiting: ["a", 10], saves: [10, 19] });
  });
});

describe("the steps of a key", () => {
  const waitsIn = (world: ReturnType<typeof openFixture>) => world.record()?.timeline?.waits;
  const second = (at: number): number => eight / 1_000 + at;

  /** A key that waits for one thing until 08:00:30, and then for another. */
  const open = () => {
    const world = openFixture();
    world.decide = ({ memory }) => ({
      memory: memory ?? { count: 1 },
      stages: [],
      next: {
        do: "wait",
        waitsFor: world.time.now < eight + 30_000 ? until("it", "started") : until("it", "finished"),
      },
    });
    return world;
  };
  const past = [["it to start", second(0), second(30)]];

  test("save past waits with the wait that follows, and make no save for them", async () => {
    const world = open();
    for (let round = 0; round < 5; round++) {
      await step(world.world, message);
      world.time.now += 10_000;
    }
    assert.deepEqual(waitsIn(world), past);
    assert.deepEqual(writesIn(world.calls), ["save 1", "save 2"]);
  });

  for (const when of ["before", "after"] as const)
    test(`that die ${when} a save lose no wait and have none twice`, async () => {
      const world = open();
      await step(world.world, message);
      world.time.now += 30_000;
      world[when] = (call) => {
        if (!call.startsWith("save")) return;
        world[when] = () => {};
        throw failing(0, "Timeout");
      };
      assert.equal((await step(world.world, message)).did, "troubled");
      await step(world.world, message);
      await step(world.world, message);
      assert.deepEqual(waitsIn(world), past);
    });

  test("that race for one record leave the wait of the one that saved", async () => {
    const world = open();
    await step(world.world, message);
    world.time.now += 30_000;
    world.before = async (call) => {
      if (!call.startsWith("save")) return;
      world.before = () => {};
      await step(world.world, message);
    };
    assert.equal((await step(world.world, message)).did, "raced");
    await step(world.world, message);
    assert.deepEqual(waitsIn(world), past);
  });
});
