/**
 * Recovery by order: reconnect within a window, or cleanup: with a death between any two deletions, each object
 * deleted by its UID, and half of the objects deleted already.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Finding, RecoveryRequest, World } from "../../../../shared/engine/context/world.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { eight, failing, message, part, toy, writesIn } from "../fakes.ts";
import { good, stored, type ToyBox, toyBox } from "./toys.ts";

const reconnect: RecoveryRequest = { mode: "reconnect", fresh: false, graceSeconds: 30 };
const cleanup: RecoveryRequest = { ...reconnect, mode: "cleanup" };
const settled = 17_000;

const withParts = (kind: Parameters<typeof toyBox>[0] = {}, decide?: Parameters<typeof toyBox>[1]): ToyBox => {
  const box = toyBox(kind, decide);
  box.put(part("arm"));
  box.put(part("leg"));
  box.put(part("stranger", "toy-9"));
  box.put({ ...part("old"), metadata: { ...part("old").metadata, labels: { old: "yes" } } });
  return box;
};

const asked = async (box: ToyBox, ask: RecoveryRequest, more: Partial<World> = {}) => {
  const found: Finding[] = [];
  const world = box.toyWorld({ ask, found: (_, finding) => void found.push(finding), ...more });
  const ending = await step(world, message);
  return { ending, found: found[0] };
};

const left = (box: ToyBox): readonly string[] =>
  [...box.objects.keys()].filter((at) => at.startsWith("parts ")).map((at) => at.slice(6));

/** Takes one step `ms` after the order. */
const later = async (box: ToyBox, ms: number): Promise<void> => {
  box.time.now = eight + ms;
  box.time.monotonic += ms;
  await step(box.toyWorld(), message);
};

describe("reconnect", () => {
  test("adopts the living objects, and opens a recovery window", async () => {
    const windows: unknown[] = [];
    const box = withParts({}, ({ returning, memory }) => {
      windows.push(returning);
      return { memory: memory ?? { count: 0 }, stages: [], next: { do: "wait", returning: true } };
    });
    const { ending, found } = await asked(box, reconnect, await stored(box, good));
    const window = { since: eight, until: eight + 30_000, ends: true };
    assert.deepEqual([ending.did, windows, found?.returning], ["step", [window], window]);
    assert.deepEqual(found?.adopted.map(({ name }) => name).sort(), ["arm", "leg"]);
    await later(box, 5_000);
    assert.deepEqual([windows[1], box.record()?.returning], [window, window]);
  });

  const rows = [
    { name: "the request names", ask: { ...reconnect, returnMs: 5_000 }, ownMs: 60_000, want: 5_000 },
    { name: "the object names", ask: reconnect, ownMs: 60_000, want: 60_000 },
    { name: "the deployment's settings name", ask: reconnect, ownMs: undefined, want: 30_000 },
  ];
  for (const { name, ask, ownMs, want } of rows)
    test(`opens the window that ${name}`, async () => {
      const box = toyBox({ returnMs: () => ownMs });
      const { found } = await asked(box, ask, await stored(box, good));
      assert.equal(found?.returning?.until, eight + want);
    });

  test("closes a window that the plan does not need in the same step", async () => {
    const box = toyBox();
    await asked(box, reconnect, await stored(box, good));
    assert.deepEqual([box.counts, box.record()?.returning], [[3], undefined]);
  });

  test("makes a missing record from status and objects", async () => {
    const box = withParts();
    const { found } = await asked(box, reconnect);
    assert.deepEqual([found?.record, box.record()?.memory], ["missing", { count: 4 }]);
  });

  test("leaves a paused object alone, as every order does", async () => {
    const box = toyBox();
    box.put(toy({ annotations: { "rekindle.dev/paused": "true" } }));
    const more = await stored(box, good);
    box.calls.length = 0;
    const { ending } = await asked(box, cleanup, more);
    assert.deepEqual([ending.did, writesIn(box.calls)], ["nothing", []]);
  });

  test("recovers a damaged record once if one request has both orders", async () => {
    const box = withParts();
    const more = await stored(box, { ...good, schema: 4 });
    const { found } = await asked(box, { ...reconnect, fresh: true }, more);
    assert.deepEqual([found?.did, box.record()?.recovered?.how], ["fresh", "fresh"]);
  });
});

describe("an order to end everything", () => {
  test("ends the object's own parts by UID, with grace; then it is recorded and stops the key", async () => {
    const box = withParts();
    await asked(box, cleanup, await stored(box, good));
    assert.deepEqual(left(box), ["stranger", "old"]);
    assert.deepEqual([box.counts, box.record()?.cleanup?.done], [[], undefined]);
    await later(box, settled);
    assert.equal(box.record()?.cleanup?.done, eight + settled);
    box.calls.length = 0;
    const ending = await step(box.toyWorld(), message);
    assert.deepEqual([ending.did, box.counts, writesIn(box.calls)], ["stopped", [], []]);
    assert.match("why" in ending ? ending.why : "", /--mode cleanup: change its spec/);
  });

  test("is not complete before every earlier planned creation can have arrived", async () => {
    const box = toyBox();
    await asked(box, cleanup, await stored(box, good));
    box.put(part("late"));
    await later(box, settled - 2_000);
    assert.deepEqual([left(box), box.record()?.cleanup?.done], [[], undefined]);
    await later(box, settled);
    assert.notEqual(box.record()?.cleanup?.done, undefined);
  });

  test("is continued by the next step after a death between two deletions", async () => {
    for (const dies of ["remove parts arm", "remove parts leg", "save 8", "save 9"]) {
      const box = withParts();
      const more = await stored(box, good);
      let died = false;
      box.before = (call) => {
        if (call !== dies || died) return;
        died = true;
        throw failing(0, "Timeout");
      };
      await asked(box, cleanup, more);
      if (box.record()?.cleanup === undefined) await asked(box, cleanup, more);
      await later(box, 1_000);
      await later(box, settled);
      assert.deepEqual([left(box), died], [["stranger", "old"], true], dies);
      assert.notEqual(box.record()?.cleanup?.done, undefined, dies);
    }
  });

  test("sends one deletion with grace, and deletes by force when the grace period is over", async () => {
    const box = toyBox();
    const graces: (number | undefined)[] = [];
    const dying = { ...part("arm"), metadata: { ...part("arm").metadata, deletionTimestamp: "2026-11-02T08:00:00Z" } };
    box.put(part("arm"));
    const { cluster } = box.world;
    const stubborn: World["cluster"] = {
      ...cluster,
      remove: async (_, { graceSeconds }) => {
        graces.push(graceSeconds);
        box.put(dying);
      },
    };
    await asked(box, cleanup, { ...(await stored(box, good)), cluster: stubborn });
    for (const ms of [5_000, 29_000, 30_000, 32_000]) {
      box.time.now = eight + ms;
      box.time.monotonic += ms;
      await step(box.toyWorld({ cluster: stubborn }), message);
    }
    assert.deepEqual(graces, [30, 0, 0]);
    assert.equal(box.record()?.cleanup?.done, undefined);
  });

  test("gets no more time if it is given again in progress", async () => {
    const box = withParts();
    await asked(box, cleanup, await stored(box, good));
    const order = box.record()?.cleanup;
    box.time.now = eight + 10_000;
    await asked(box, { ...cleanup, graceSeconds: 600 });
    assert.deepEqual(box.record()?.cleanup, order);
  });

  test("ends with a change of the spec, or with an order to reconnect", async () => {
    for (const how of ["change", "ask"] as const) {
      const box = toyBox();
      await asked(box, cleanup, await stored(box, good));
      await later(box, settled);
      if (how === "change") box.put(toy({ generation: 2 }));
      const { ending } = how === "ask" ? await asked(box, reconnect) : { ending: await step(box.toyWorld(), message) };
      assert.deepEqual([ending.did, box.counts, box.record()?.cleanup], ["step", [3], undefined], how);
    }
  });

  test("lets a kind that has a memory of its end continue with that", async () => {
    const box = toyBox({ ended: () => ({ count: 1_000 }) });
    await asked(box, cleanup, await stored(box, good));
    await later(box, settled);
    await later(box, settled + 1_000);
    assert.deepEqual([box.counts, box.record()?.memory], [[1_000], { count: 1_000 }]);
  });

  test("leaves only the record's own end if the object is deleted in the meantime", async () => {
    const seen: unknown[] = [];
    const box = toyBox({}, ({ object }) => {
      seen.push(object);
      return { memory: { count: 0 }, stages: [], next: { do: "forget" } };
    });
    await asked(box, cleanup, await stored(box, good));
    box.objects.delete("toys bear");
    await later(box, 1_000);
    assert.deepEqual([seen, box.record()], [[undefined], undefined]);
  });

  test("whose save another step won ends nothing", async () => {
    const box = withParts();
    const more = await stored(box, good);
    box.before = async (call) => {
      if (call === "save 8")
        await box.checkpoints.save(message, { ...good, saves: 8 }, (await box.checkpoints.load(message))?.version);
    };
    const { ending } = await asked(box, cleanup, more);
    assert.deepEqual([ending.did, left(box).length], ["raced", 4]);
  });
});
