/** The fate of an executor on a node that Rekindle may not read. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fateOf } from "../../../../shared/spark/executors/nodes.ts";
import { executor, type Short } from "./pods.ts";

const now = Date.UTC(2026, 10, 2, 8);
const bearing = { now, graceMs: 10_000, waits: false };

describe("without the right to read its node, an executor", () => {
  const rows: readonly (readonly [why: string, short: Omit<Short, "id">, fate: string])[] = [
    ["that is ready is left alone", {}, "none"],
    ["that is not ready leads to another read of its node", { unready: "2026-11-02T07:59:00Z" }, "ask"],
    ["that is not ready leads to reads for ten minutes", { unready: "2026-11-02T07:50:01Z" }, "ask"],
    ["that is not ready for longer leads to no read", { unready: "2026-11-02T07:50:00Z" }, "none"],
    ["that has ended leads to no read", { phase: "Failed", unready: "2026-11-02T07:59:00Z" }, "none"],
  ];
  for (const [why, short, fate] of rows)
    test(why, () => assert.equal(fateOf(executor({ id: 1, ...short }), { is: "hidden" }, bearing).is, fate));
});
