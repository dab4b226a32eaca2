/** Applying effects: each effect under each answer of the API server, and no effect after the fence. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "../../../../shared/core/http.ts";
import type { Effect } from "../../../../shared/core/plan.ts";
import { apply, applyStage, type Done } from "../../../../shared/engine/cluster/apply.ts";
import {
  creation,
  eight,
  exists,
  type Fixture,
  failing,
  openFixture,
  part,
  parts,
  refOf,
  toy,
  toys,
} from "../fakes.ts";

const handsOf = (world: Fixture, until = Number.POSITIVE_INFINITY) => ({
  cluster: world.world.cluster,
  clock: world.world.clock,
  until,
  now: eight,
});

const answering = (world: Fixture, call: string, ...errors: readonly ApiError[]): void => {
  const left = [...errors];
  world.before = (name) => {
    const error = name === call ? left.shift() : undefined;
    if (error !== undefined) throw error;
  };
};

const short = (done: Done): string => {
  if (done.did === "refused") return `refused ${done.refusal.status} ${done.refusal.reason}`;
  return done.did === "troubled" ? `troubled ${done.trouble.reason}` : done.did;
};

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

const earlier = part("arm", "toy-1", "0");
const theirs = part("arm", "toy-9");
const leaving = { ...theirs, metadata: { ...theirs.metadata, deletionTimestamp: "2026-11-02T08:00:00Z" } };

describe("creating where the name is taken", () => {
  const cases = [
    { name: "ours, of the same attempt: it is the same act done before", there: part("arm"), want: "done" },
    { name: "ours, of an earlier attempt: it is waited for", there: earlier, want: "troubled StillThere" },
    { name: "somebody else's: refused, not touched", there: theirs, want: "refused 409 NameTaken" },
    { name: "somebody else's on its way out: it is waited for", there: leaving, want: "troubled StillThere" },
    {
      name: "nobody's, though it carries our label: refused",
      there: { ...part("arm"), metadata: { ...part("arm").metadata, ownerReferences: [] } },
      want: "refused 409 NameTaken",
    },
  ];
  for (const { name, there, want } of cases) {
    test(name, async () => {
      const world = openFixture();
      const stored = world.put(there);
      assert.equal(short(await apply(handsOf(world), creation("arm"))), want);
      assert.deepEqual(world.objects.get("parts arm"), stored);
    });
  }

  test("and free again when looked at: the step comes back", async () => {
    const world = openFixture();
    answering(world, "create parts arm", exists());
    assert.equal(short(await apply(handsOf(world), creation("arm"))), "troubled Vanishing");
  });

  test("an answer that was lost is made good by the same create: adopted", async () => {
    const world = openFixture();
    world.after = () => {
      world.after = () => {};
      throw failing(0, "Timeout");
    };
    assert.equal(short(await apply(handsOf(world), creation("arm"))), "troubled Timeout");
    assert.equal(short(await apply(handsOf(world), creation("arm"))), "done");
    assert.equal([...world.objects.keys()].filter((key) => key === "parts arm").length, 1);
  });
});

describe("an effect under an answer of the server", () => {
  const webhook = failing(422, 'Invalid: admission webhook "no.example" denied the request');
  const invalid = failing(422, "Invalid");
  const cases: readonly { name: string; effect: Effect; errors: readonly ApiError[]; want: string; calls: number }[] = [
    { name: "one odd refusal does not count", effect: creation("arm"), errors: [invalid], want: "done", calls: 2 },
    {
      name: "a refusal that is repeated is evidence",
      effect: creation("arm"),
      errors: [invalid, invalid],
      want: "refused 422 Invalid",
      calls: 2,
    },
    {
      name: "so is 400, and 413",
      effect: creation("arm"),
      errors: [failing(400, "BadRequest"), failing(413, "RequestEntityTooLarge")],
      want: "refused 413 RequestEntityTooLarge",
      calls: 2,
    },
    {
      name: "a webhook's no is the platform's",
      effect: creation("arm"),
      errors: [webhook],
      want: `troubled ${webhook.reason}`,
      calls: 1,
    },
    {
      name: "quota is the platform's",
      effect: creation("arm"),
      errors: [failing(403, "Forbidden")],
      want: "troubled Forbidden",
      calls: 1,
    },
    {
      name: "quota is evidence where the decision takes it as an answer",
      effect: limited,
      errors: [new ApiError({ status: 403, reason: "Forbidden", message: "forbidden: exceeded quota: team" })],
      want: "refused 403 QuotaExceeded",
      calls: 1,
    },
    {
      name: "a missing right is the platform's there, too",
      effect: limited,
      errors: [failing(403, "Forbidden")],
      want: "troubled Forbidden",
      calls: 1,
    },
    {
      name: "so are 429",
      effect: creation("arm"),
      errors: [failing(429, "TooManyRequests")],
      want: "troubled TooManyRequests",
      calls: 1,
    },
    {
      name: "and 500",
      effect: creation("arm"),
      errors: [failing(500, "InternalError")],
      want: "troubled InternalError",
      calls: 1,
    },
    {
      name: "and a conflict that is none of names",
      effect: creation("arm"),
      errors: [failing(409, "Conflict")],
      want: "troubled Conflict",
      calls: 1,
    },
    {
      name: "a patch that is refused is evidence",
      effect: change,
      errors: [invalid],
      want: "refused 422 Invalid",
      calls: 1,
    },
    { name: "and a delete that was refused", effect: removal, errors: [invalid], want: "troubled Invalid", calls: 1 },
    { name: "an event that is there already is told", effect: event, errors: [exists()], want: "done", calls: 1 },
    {
      name: "an event that nobody may write is no trouble",
      effect: event,
      errors: [failing(403, "Forbidden")],
      want: "done",
      calls: 1,
    },
    {
      name: "an event that the server does not take is none",
      effect: event,
      errors: [invalid],
      want: "done",
      calls: 1,
    },
    {
      name: "an event in a bad minute is tried again",
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

  test("a pause between refusal and second try ends it", async () => {
    const world = openFixture();
    world.before = () => {
      world.time.monotonic += 10;
      throw failing(422, "Invalid");
    };
    assert.equal(short(await apply(handsOf(world, 1_005), creation("arm"))), "troubled Late");
    assert.equal(world.calls.length, 1);
  });
});

describe("deleting", () => {
  test("another object of the name stays", async () => {
    const world = openFixture();
    world.put({ ...part("arm"), metadata: { ...part("arm").metadata, uid: "new" } });
    assert.equal(short(await apply(handsOf(world), removal)), "done");
    assert.ok(world.objects.has("parts arm"));
  });

  test("by judgement, an object that has changed since stays", async () => {
    const world = openFixture();
    const there = world.put({ ...part("arm"), metadata: { ...part("arm").metadata, uid: "old" } });
    const { resourceVersion } = there.metadata;
    world.put(there);
    assert.equal(short(await apply(handsOf(world), { ...removal, resourceVersion })), "troubled Conflict");
    assert.ok(world.objects.has("parts arm"));
  });
});

describe("patching", () => {
  const there = (world: Fixture) => world.put({ ...part("arm"), metadata: { ...part("arm").metadata, uid: "old" } });

  test("what is as it was looked at is changed", async () => {
    const world = openFixture();
    const { resourceVersion } = there(world).metadata;
    assert.equal(short(await apply(handsOf(world), { ...change, resourceVersion })), "done");
    assert.equal(world.objects.get("parts arm")?.["data"], 1);
  });

  const stale = [
    { name: "changed since", fence: { uid: "old", resourceVersion: "0" } },
    { name: "another object by now", fence: { uid: "older" } },
  ];
  for (const { name, fence } of stale) {
    test(`what has ${name} stays`, async () => {
      const world = openFixture();
      const { resourceVersion } = there(world).metadata;
      assert.equal(short(await apply(handsOf(world), { ...change, resourceVersion, ...fence })), "troubled Conflict");
      assert.equal(world.objects.get("parts arm")?.["data"], undefined);
    });
  }
});

describe("events", () => {
  test("the same occasion has the same name, another one another", async () => {
    const world = openFixture();
    for (const effect of [event, event, { ...event, occasion: "1 2" }]) await apply(handsOf(world), effect);
    assert.deepEqual(new Set(world.calls).size, 2);
  });

  test("an event says whom it is about, when and what, within the API's bounds", async () => {
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
  test("at most so many effects are in flight, and the answers keep their places", async () => {
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

  test("after the fence nothing of it starts", async () => {
    const world = openFixture();
    const results = await applyStage(handsOf(world, 999), [creation("arm"), removal, event], 8);
    assert.deepEqual([results.map(short), world.calls], [Array(3).fill("troubled Late"), []]);
  });
});
