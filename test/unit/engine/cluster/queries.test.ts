/** Queries that may fail without harm: a missing answer is evidence for the decision, not trouble for the step. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { all, getIfAllowed, list, proxyGet } from "../../../../shared/core/decision.ts";
import type { ProbeResult } from "../../../../shared/core/plan.ts";
import { resultOf, type Source, stepReads } from "../../../../shared/engine/cluster/queries.ts";
import { openQuarantine } from "../../../../shared/engine/quarantine.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { type Fixture, failing, message, openFixture, parts, refOf } from "../fakes.ts";

const question = { do: "proxyGet", pod: refOf(parts, "arm"), port: 4040, path: ["api"] } as const;

/** A world whose decision yields both queries, and the probe results that it got. */
const curious = (): { world: Fixture; heard: ProbeResult[] } => {
  const heard: ProbeResult[] = [];
  const world = openFixture(function* ({ memory }) {
    heard.push(...(yield* all([getIfAllowed(refOf(parts, "arm")), proxyGet(question)])));
    return { memory: memory ?? { count: 0 }, stages: [] };
  });
  return { world, heard };
};

describe("getIfAllowed", () => {
  test("returns the object, or that there is none", async () => {
    const { world, heard } = curious();
    await step(world.world, message);
    world.put({ apiVersion: "v1", kind: "Part", metadata: { name: "arm", uid: "arm-1" } });
    await step(world.world, message);
    assert.deepEqual(
      [heard[0], heard[2]],
      [
        { heard: true, value: undefined },
        { heard: true, value: world.objects.get("parts arm") },
      ],
    );
  });

  test("returns an object although a single answer said that it does not exist", async () => {
    const { world, heard } = curious();
    world.put({ apiVersion: "v1", kind: "Part", metadata: { name: "arm", uid: "arm-1" } });
    const { cluster } = world.world;
    const lies = [true];
    const get: typeof cluster.get = async (ref) => {
      const answer = await cluster.get(ref);
      return ref.name === "arm" && lies.pop() === true ? { ...answer, value: undefined } : answer;
    };
    await step({ ...world.world, cluster: { ...cluster, get } }, message);
    assert.deepEqual(heard[0], { heard: true, value: world.objects.get("parts arm") });
  });

  test("returns that the object is forbidden", async () => {
    const { world, heard } = curious();
    world.before = (call) => {
      if (call === "get parts arm") throw failing(403, "Forbidden");
    };
    assert.equal((await step(world.world, message)).did, "step");
    assert.deepEqual(heard[0], { heard: false, why: "forbidden", message: "Forbidden said so" });
  });

  test("ends the step in trouble if the platform does not answer, as any read does", async () => {
    const { world, heard } = curious();
    world.before = (call) => {
      if (call === "get parts arm") throw failing(503, "ServiceUnavailable");
    };
    assert.equal((await step(world.world, message)).did, "troubled");
    assert.deepEqual(heard, []);
  });
});

test("proxyGet returns a pod's answer to the decision", async () => {
  const { world, heard } = curious();
  await step(world.world, message);
  assert.deepEqual(heard[1], { heard: true, value: { said: "arm" } });
});

describe("a list of a kind that a cluster may lack", () => {
  const spared = { do: "list", resource: parts, namespace: "", labels: {}, spared: true } as const;

  /** Returns the names that a list finds when its first `denials` requests answer that the kind is not served. */
  const foundAfter = async (denials: number): Promise<readonly string[]> => {
    const { world } = curious();
    world.put({ apiVersion: "v1", kind: "Part", metadata: { name: "arm", uid: "arm-1" } });
    let left = denials;
    world.before = (call) => {
      if (call === "list parts" && left-- > 0) throw failing(404, "NotFound");
    };
    const found = await resultOf(() => list(spared), stepReads(world.world.cluster), "a list");
    return found.map(({ metadata: { name } }) => name);
  };

  const rows = [
    ["is requested again if a server that has just started does not serve the kind", 1, ["arm"]],
    ["returns no object if the kind is not served", 2, []],
  ] as const;
  for (const [what, denials, found] of rows) test(what, async () => assert.deepEqual(await foundAfter(denials), found));
});

describe("the parts of a decision", () => {
  const arm = refOf(parts, "arm");
  const leg = refOf(parts, "leg");

  /** Returns the number of slices of a decision that reads three times; the reads of `watched` need no request. */
  const slicesWith = async (watched: readonly string[]): Promise<number> => {
    const { world } = curious();
    let slices = 0;
    const { run } = openQuarantine({
      slices: {
        later: (begin) => void setImmediate(begin),
        guard: (_, work) => {
          slices += 1;
          work();
        },
      },
      ...{ budgetMs: 1_000, now: () => 0, clock: () => 0 },
    });
    const source: Source = (query) =>
      query.do === "get" && watched.includes(query.ref.name) ? { value: [], freshness: "watched" } : undefined;
    const get = (ref: typeof arm) => list({ do: "get", ref });
    const read = function* () {
      return [yield* get(arm), yield* get(leg), yield* get(arm)];
    };
    const reads = stepReads(world.world.cluster, [source]);
    assert.deepEqual(await resultOf(read, reads, "three reads", (work) => run(message, "1", work)), [[], [], []]);
    return slices;
  };

  test("run in one slice while their reads need no request", async () => {
    assert.equal(await slicesWith(["arm", "leg"]), 1);
  });

  test("begin another slice after a request, and none for a query that was answered before", async () => {
    assert.equal(await slicesWith(["arm"]), 2);
    assert.equal(await slicesWith([]), 3);
  });
});
