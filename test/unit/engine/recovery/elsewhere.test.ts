/**
 * A record of another cluster, which is to Rekindle what a reboot is to a Mesos agent: the UID of another object, a
 * death right after that decision, settings that only grow, and others, which are refused.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { World } from "../../../../shared/engine/context/world.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { recovery, timing } from "../../../../shared/engine/settings.ts";
import { failing, message, toy, writesIn } from "../fakes.ts";
import { good, stored, type ToyBox, toyBox } from "./toys.ts";

const away = { ...good, cluster: "cluster-0", uid: "toy-0" };
const lenient = { recovery: { ...recovery, strict: false } };
const made = { fenceMs: timing.fenceMs + 1, requestTimeoutMs: timing.requestTimeoutMs };

const taken = async (box: ToyBox, record: unknown, more: Partial<World> = {}) => {
  box.calls.length = 0;
  return await step(box.toyWorld({ ...(await stored(box, record)), ...more }), message);
};

describe("a record that was made in another cluster", () => {
  for (const settings of [{ recovery }, lenient])
    test(`is continued without its UIDs, ${settings.recovery.strict ? "strict" : "not strict"}`, async () => {
      const box = toyBox();
      assert.equal((await taken(box, away, settings)).did, "step");
      const { cluster, uid, memory, recovered, saves } = box.record() ?? {};
      assert.deepEqual([box.counts, cluster, uid, memory], [[-3], "cluster-1", "toy-1", { count: -3 }]);
      assert.deepEqual([recovered?.how, saves], ["voided", 8]);
    });

  test("is voided once: the next step finds a valid record", async () => {
    const box = toyBox();
    await taken(box, away);
    await step(box.toyWorld(), message);
    assert.deepEqual(box.counts, [-3, -3]);
  });

  test("is voided again after a death before the save, and not after a death behind it", async () => {
    const fates = [
      { at: "before", counts: [-3] },
      { at: "after", counts: [-3] },
    ] as const;
    for (const { at, counts } of fates) {
      const box = toyBox();
      const world = await stored(box, away);
      let died = false;
      box[at] = (call: string) => {
        if (died || !call.startsWith("save 8")) return;
        died = true;
        throw failing(0, "Timeout");
      };
      await step(box.toyWorld(world), message);
      assert.equal(box.counts.length, 0);
      await step(box.toyWorld(at === "before" ? world : {}), message);
      assert.deepEqual([box.counts, box.record()?.cluster], [counts, "cluster-1"], at);
    }
  });

  test("is recovered by one of two steps at a time; the other touches nothing", async () => {
    const box = toyBox();
    const world = await stored(box, away);
    const second = toyBox();
    const endings = await Promise.all([
      step(box.toyWorld(world), message),
      step(second.toyWorld({ ...world, cluster: box.world.cluster, queue: box.world.queue }), message),
    ]);
    assert.deepEqual(endings.map(({ did }) => did).sort(), ["raced", "step"]);
    assert.equal(box.counts.length + second.counts.length, 1);
  });

  test("keeps the run in progress as a voided run", async () => {
    const box = toyBox();
    await taken(box, away);
    assert.deepEqual(
      box.record()?.runs?.map(({ attempt, outcome }) => [attempt, outcome]),
      [[3, "voided"]],
    );
  });

  test("is continued unchanged if its kind has no recovery, and an Event reports that", async () => {
    const box = toyBox();
    const world = box.toyWorld(await stored(box, away));
    const { recovery: _, ...operator } = { ...world.operatorOf("Toy") };
    const ended = await step({ ...world, operatorOf: () => Object(operator) }, message);
    assert.deepEqual([ended.did, box.counts], ["step", [3]]);
    const [event] = [...box.objects.values()].filter(({ kind }) => kind === "Event");
    assert.equal(event?.["reason"], "RekindleRecovered");
  });

  test("whose object is missing is cleaned up, not adopted", async () => {
    const seen: unknown[] = [];
    const box = toyBox({}, ({ object, uid }) => {
      seen.push([object, uid]);
      return { memory: { count: 0 }, stages: [], next: { do: "forget" } };
    });
    box.objects.delete("toys bear");
    await taken(box, away);
    assert.deepEqual([seen, box.record()], [[[undefined, "toy-0"]], undefined]);
  });

  const ills = [
    { name: "of a later schema", record: { ...away, schema: 5 } },
    { name: "made with a longer fence", record: { ...away, made } },
  ];
  for (const { name, record } of ills)
    test(`${name}: is replaced by a fresh one, which keeps the old one's content`, async () => {
      const box = toyBox();
      box.put(toy({}, { count: 4 }));
      assert.equal((await taken(box, record)).did, "step");
      const { recovered, memory, cluster } = box.record() ?? {};
      assert.deepEqual(
        [recovered?.how, recovered?.was, memory, cluster],
        ["fresh", record, { count: -4 }, "cluster-1"],
      );
      await step(box.toyWorld(), message);
      assert.deepEqual(box.counts, [-4, -4]);
    });

  test("is replaced by the same fresh one after a death before the save", async () => {
    const box = toyBox();
    const world = await stored(box, { ...away, schema: 5 });
    box.before = (call) => {
      if (call.startsWith("save")) throw failing(0, "Timeout");
    };
    await step(box.toyWorld(world), message);
    box.before = () => {};
    await step(box.toyWorld(world), message);
    assert.deepEqual([box.counts, box.record()?.recovered?.how], [[-0], "fresh"]);
  });

  test("and is damaged stops its key in strict mode; otherwise its readable part is voided", async () => {
    const record = { ...away, saves: "many" };
    assert.equal((await taken(toyBox(), record)).did, "stopped");
    const box = toyBox();
    await taken(box, record, lenient);
    assert.deepEqual([box.counts, box.record()?.recovered?.how], [[-3], "salvaged"]);
  });
});

describe("a record made under other settings", () => {
  const policies = (policy: "equal" | "additive" | "any") => ({ recovery: { ...recovery, policy } });
  const { fenceMs, requestTimeoutMs } = timing;
  const rows = [
    {
      name: "the same settings",
      made: { fenceMs, requestTimeoutMs },
      goes: { equal: true, additive: true, any: true },
    },
    { name: "none, by an earlier version", made: undefined, goes: { equal: true, additive: true, any: true } },
    {
      name: "a fence that has grown since",
      made: { fenceMs: fenceMs - 1, requestTimeoutMs },
      goes: { equal: false, additive: true, any: true },
    },
    {
      name: "a fence that has shrunk since",
      made: { fenceMs: fenceMs + 1, requestTimeoutMs },
      goes: { equal: false, additive: false, any: true },
    },
    { name: "one setting that is new", made: { fenceMs }, goes: { equal: false, additive: true, any: true } },
    {
      name: "one that this version does not know",
      made: { fenceMs, requestTimeoutMs, shards: 3 },
      goes: { equal: false, additive: true, any: true },
    },
  ] as const;
  for (const { name, made: was, goes } of rows)
    for (const policy of ["equal", "additive", "any"] as const)
      test(`${name}, policy ${policy}: ${goes[policy] ? "goes on" : "is refused"}`, async () => {
        const box = toyBox();
        const record = was === undefined ? good : { ...good, made: was };
        const { did } = await taken(box, record, policies(policy));
        assert.equal(did, goes[policy] ? "step" : "stopped");
      });

  test("the refusal names the setting, both values, and the command to go on with", async () => {
    const ending = await taken(toyBox(), { ...good, made });
    assert.match(
      "why" in ending ? ending.why : "",
      /^made with fenceMs 10001, and this deployment has 10000, .*rekindle recover toy\/ns\/bear --reconfigure$/,
    );
  });

  test("that are accepted cause no write, and the next write records the new ones", async () => {
    const box = toyBox();
    await taken(box, { ...good, made: { fenceMs: 1, requestTimeoutMs: 1 }, generation: 1 });
    assert.deepEqual(writesIn(box.calls), []);
    const changed = toyBox({}, () => ({ memory: { count: 9 }, stages: [] }));
    await taken(changed, { ...good, made: { fenceMs: 1, requestTimeoutMs: 1 } });
    assert.deepEqual(changed.record()?.made, { fenceMs, requestTimeoutMs });
  });
});
