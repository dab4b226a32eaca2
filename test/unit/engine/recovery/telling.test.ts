/**
 * A recovery is reported before it is saved: a step that meets trouble is followed by one that recovers again, and
 * reports nothing twice.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ApiError } from "../../../../shared/core/http.ts";
import type { RecoveryRequest, World } from "../../../../shared/engine/context/world.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { recovery } from "../../../../shared/engine/settings.ts";
import { failing, message } from "../fakes.ts";
import { good, stored, type ToyBox, toyBox } from "./toys.ts";

const lenient = { recovery: { ...recovery, strict: false } };
const strict = { recovery: { ...recovery, strict: true } };
const reconnect: RecoveryRequest = { mode: "reconnect", fresh: false, graceSeconds: 30 };
const damaged = { ...good, saves: "many" };

/** The first `times` Events fail with this error. */
const troubled = (box: ToyBox, error: ApiError, times: number): void => {
  let left = times;
  box.before = (call) => {
    if (!call.startsWith("create events") || left <= 0) return;
    left -= 1;
    throw error;
  };
};

const told = (box: ToyBox): readonly unknown[] =>
  [...box.objects.values()].filter(({ kind }) => kind === "Event").map((event) => event["reason"]);

type Row = {
  readonly why: string;
  readonly record: unknown;
  readonly settings: Partial<World>;
  readonly reason: string;
  readonly saved: boolean;
};

const rows: readonly Row[] = [
  {
    why: "about the readable part of a record",
    record: damaged,
    settings: lenient,
    reason: "RekindleRecovered",
    saved: true,
  },
  {
    why: "about a record of another cluster",
    record: { ...good, cluster: "cluster-0" },
    settings: strict,
    reason: "RekindleRecovered",
    saved: true,
  },
  {
    why: "about a record that stops its key",
    record: damaged,
    settings: strict,
    reason: "RecoveryFailed",
    saved: false,
  },
  {
    why: "about an order to reconnect",
    record: good,
    settings: { ask: reconnect },
    reason: "RekindleRecovering",
    saved: true,
  },
];

const saves = (box: ToyBox): number => box.calls.filter((call) => call.startsWith("save")).length;

describe("the Event of a recovery", () => {
  for (const { why, record, settings, reason, saved } of rows) {
    test(`${why}: meets trouble, so that nothing is saved, and the retry recovers again`, async () => {
      const box = toyBox();
      const more = { ...(await stored(box, record)), ...settings };
      box.calls.length = 0;
      troubled(box, failing(503, "ServiceUnavailable"), 1);
      const ending = await step(box.toyWorld(more), message);
      assert.deepEqual([ending.did, saves(box), told(box)], ["troubled", 0, []]);
      const [again] = box.sent;
      assert.deepEqual([again?.message.reason, again?.message.tries], ["retry", 1]);
      await step(box.toyWorld(more), again?.message ?? message);
      assert.deepEqual([told(box), saves(box) > 0], [[reason], saved]);
    });

    test(`${why}: meets trouble for long, and no longer blocks the recovery`, async () => {
      const box = toyBox();
      const more = { ...(await stored(box, record)), ...settings };
      box.calls.length = 0;
      troubled(box, failing(503, "ServiceUnavailable"), 9);
      await step(box.toyWorld(more), { ...message, tries: 2 });
      assert.equal(saves(box) > 0, saved);
    });

    test(`${why}: is refused, and is not tried again`, async () => {
      const box = toyBox();
      const more = { ...(await stored(box, record)), ...settings };
      box.calls.length = 0;
      troubled(box, failing(403, "Forbidden"), 9);
      await step(box.toyWorld(more), message);
      assert.equal(saves(box) > 0, saved);
    });
  }
});
