/** Applying effects: each effect under each answer of the API server, and no effect after the fence. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "../../../../shared/core/http.ts";
import type { Effect } from "../../../../shared/core/plan.ts";
import { apply, applyStage } from "../../../../shared/engine/cluster/apply.ts";
import {
  answering,
  creation,
  exists,
  type Fixture,
  failing,
  handsOf,
  openFixture,
  part,
  parts,
  refOf,
  short,
  toy,
  toys,
} from "../fakes.ts";

const removal: Effect = { do: "delete", ref: refOf(parts, "arm"), uid: "old" };
const change: Effect = { do: "patch", ref: refOf(parts, "arm"), uid: "old", resourceVersion: "1", patch: { data: 1 } };
const event: Effect = {
  do: "record",
  about: toy(),
  resource: toys,
  occasion: "1 1",
  type: "Normal",
  reason: "ToyMade",
  message: "made",
};

const limited: Effect = {
  do: "create",
  object: part("arm"),
  resource: parts,
  owner: "toy-1",
  limited: true,
};

describe("an effect, by the answers of the server,", () => {
  const webhook = failing(422, 'Invalid: admission webhook "no.example" denied the request');
  const invalid = failing(422, "Invalid");
  const cases: readonly { name: string; effect: Effect; errors: readonly ApiError[]; want: string; calls: number }[] = [
    {
      name: "is done if only its first answer refuses it",
      effect: creation("arm"),
      errors: [invalid],
      want: "done",
      calls: 2,
    },
    {
      name: "is refused if two answers refuse it",
      effect: creation("arm"),
      errors: [invalid, invalid],
      want: "refused 422 Invalid",
      calls: 2,
    },
    {
      name: "is refused by 400 and 413, too",
      effect: creation("arm"),
      errors: [failing(400, "BadRequest"), failing(413, "RequestEntityTooLarge")],
      want: "refused 413 RequestEntityTooLarge",
      calls: 2,
    },
    {
      name: "ends in trouble if an admission webhook denies it",
      effect: creation("arm"),
      errors: [webhook],
      want: `troubled ${webhook.reason}`,
      calls: 1,
    },
    {
      name: "ends in trouble if a quota forbids it",
      effect: creation("arm"),
      errors: [failing(403, "Forbidden")],
      want: "troubled Forbidden",
      calls: 1,
    },
    {
      name: "is refused by an exceeded quota if the effect accepts quota as an answer",
      effect: limited,
      errors: [new ApiError({ status: 403, reason: "Forbidden", message: "forbidden: exceeded quota: team" })],
      want: "refused 403 QuotaExceeded",
      calls: 1,
    },
    {
      name: "ends in trouble if the effect accepts quota as an answer and a right is missing",
      effect: limited,
      errors: [failing(403, "Forbidden")],
      want: "troubled Forbidden",
      calls: 1,
    },
    {
      name: "ends in trouble after 429",
      effect: creation("arm"),
      errors: [failing(429, "TooManyRequests")],
      want: "troubled TooManyRequests",
      calls: 1,
    },
    {
      name: "ends in trouble after 500",
      effect: creation("arm"),
      errors: [failing(500, "InternalError")],
      want: "troubled InternalError",
      calls: 1,
    },
    {
      name: "ends in trouble after a conflict that is not about a name",
      effect: creation("arm"),
      errors: [failing(409, "Conflict")],
      want: "troubled Conflict",
      calls: 1,
    },
    {
      name: "is refused by one answer if it is a patch",
      effect: change,
      errors: [invalid],
      want: "refused 422 Invalid",
      calls: 1,
    },
    {
      name: "ends in trouble if it is a delete that the server refuses",
      effect: removal,
      errors: [invalid],
      want: "troubled Invalid",
      calls: 1,
    },
    { name: "is done if it is an Event that exists", effect: event, errors: [exists()], want: "done", calls: 1 },
    {
      name: "is done if it is an Event that Rekindle may not write",
      effect: event,
      errors: [failing(403, "Forbidden")],
      want: "done",
      calls: 1,
    },
    {
      name: "is done if it is an Event that the server refuses",
      effect: event,
      errors: [invalid],
      want: "done",
      calls: 1,
    },
    {
      name: "ends in trouble if it is an Event and the server is unavailable",
      effect: event,
      errors: [failing(503, "ServiceUnavailable")],
      want: "troubled ServiceUnavailable",
      calls: 1,
    },
  ];
  for (const { name, effect, errors, want, calls } of cases) {
    test(name, async () => {
      const world = openFixture();
      const left = [...errors];
      world.before = () => {
        const error = left.shift();
        if (error !== undefined) throw error;
      };
      assert.equal(short(await apply(handsOf(world), effect)), want);
      assert.equal(world.calls.length, calls);
    });
  }

  test("a creation whose fence passes between refusal and second try ends as Late", async () => {
    const world = openFixture();
    world.before = () => {
      world.time.monotonic += 10;
      throw failing(422, "Invalid");
    };
    assert.equal(short(await apply(handsOf(world, 1_005), creation("arm"))), "troubled Late");
    assert.equal(world.calls.length, 1);
  });
});

describe("a deletion", () => {
  test("leaves another object of the same name alone", async () => {
    const world = openFixture();
    world.put({ ...part("arm"), metadata: { ...part("arm").metadata, uid: "new" } });
    assert.equal(short(await apply(handsOf(world), removal)), "done");
    assert.ok(world.objects.has("parts arm"));
  });

  test("with a resourceVersion leaves an object alone that has changed since", async () => {
    const world = openFixture();
    const there = world.put({ ...part("arm"), metadata: { ...part("arm").metadata, uid: "old" } });
    const { resourceVersion } = there.metadata;
    world.put(there);
    assert.equal(short(await apply(handsOf(world), { ...removal, resourceVersion })), "troubled Conflict");
    assert.ok(world.objects.has("parts arm"));
  });
});

describe("an eviction", () => {
  const eviction: Effect = { do: "evict", ref: refOf(parts, "arm"), uid: "old" };
  const there = (world: Fixture) => world.put({ ...part("arm"), metadata: { ...part("arm").metadata, uid: "old" } });

  test("ends the object", async () => {
    const world = openFixture();
    there(world);
    assert.equal(short(await apply(handsOf(world), eviction)), "done");
    assert.ok(!world.objects.has("parts arm"));
  });

  for (const status of [403, 429, 500])
    test(`that the server refuses with ${status} is skipped, and the step goes on`, async () => {
      const world = openFixture();
      there(world);
      answering(world, "evict parts arm", failing(status, "Refused"));
      assert.equal(short(await apply(handsOf(world), eviction)), "passed");
      assert.ok(world.objects.has("parts arm"));
    });

  test("without an answer is a trouble", async () => {
    const world = openFixture();
    answering(world, "evict parts arm", failing(503, "ServiceUnavailable"));
    assert.equal(short(await apply(handsOf(world), eviction)), "troubled ServiceUnavailable");
  });
});

describe("a patch", () => {
  const there = (world: Fixture) => world.put({ ...part("arm"), metadata: { ...part("arm").metadata, uid: "old" } });

  test("changes an object that is unchanged since it was read", async () => {
    const world = openFixture();
    const { resourceVersion } = there(world).metadata;
    assert.equal(short(await apply(handsOf(world), { ...change, resourceVersion })), "done");
    assert.equal(world.objects.get("parts arm")?.["data"], 1);
  });

  const stale = [
    { name: "has changed since it was read", fence: { uid: "old", resourceVersion: "0" } },
    { name: "has another UID by now", fence: { uid: "older" } },
  ];
  for (const { name, fence } of stale) {
    test(`leaves an object alone that ${name}`, async () => {
      const world = openFixture();
      const { resourceVersion } = there(world).metadata;
      assert.equal(short(await apply(handsOf(world), { ...change, resourceVersion, ...fence })), "troubled Conflict");
      assert.equal(world.objects.get("parts arm")?.["data"], undefined);
    });
  }
});

describe("an Event", () => {
  test("has the same name for the same occasion, and another name for another", async () => {
    const world = openFixture();
    for (const effect of [event, event, { ...event, occasion: "1 2" }]) await apply(handsOf(world), effect);
    assert.deepEqual(new Set(world.calls).size, 2);
  });

  test("names its object, reason and time within the limits of the API", async () => {
    const world = openFixture();
    const about = toy({ name: "b".repeat(253), namespace: "ns" });
    await apply(handsOf(world), { ...event, about, message: "m".repeat(2_000) });
    const [, told] = [...world.objects.values()];
    const { name, namespace } = told?.metadata ?? { name: "" };
    assert.deepEqual(
      {
        length: name.length <= 253,
        namespace,
        message: String(told?.["message"]).length,
        time: told?.["firstTimestamp"],
      },
      { length: true, namespace: "ns", message: 1_024, time: "2026-11-02T08:00:00Z" },
    );
    assert.deepEqual([told?.["source"], told?.["reportingComponent"]], [{ component: "rekindle" }, "rekindle"]);
    assert.deepEqual(told?.["involvedObject"], {
      apiVersion: "toys.example/v1",
      kind: "Toy",
      name: "b".repeat(253),
      namespace: "ns",
      uid: "toy-1",
      resourceVersion: "1",
    });
  });
});

describe("a stage", () => {
  test("has a bounded number of effects in flight, and returns the results in order", async () => {
    const world = openFixture();
    let flying = 0;
    let most = 0;
    world.before = async (call) => {
      flying += 1;
      most = Math.max(most, flying);
      await new Promise((resolve) => setImmediate(resolve));
      flying -= 1;
      if (call === "create parts p7") throw failing(500, "InternalError");
    };
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    const results = await applyStage(
      handsOf(world),
      names.map((name) => creation(name)),
      4,
    );
    assert.equal(most, 4);
    assert.deepEqual(
      results.map((done, index) => [index, done.did]).filter(([, did]) => did !== "done"),
      [[7, "troubled"]],
    );
  });

  test("starts no effect after the fence", async () => {
    const world = openFixture();
    const results = await applyStage(handsOf(world, 999), [creation("arm"), removal, event], 8);
    assert.deepEqual([results.map(short), world.calls], [Array(3).fill("troubled Late"), []]);
  });
});
