/** Parsing of memories: a stored memory is read back unchanged, and each invalid field is named. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { parseMemory } from "../../../../../shared/spark/application/state/memory.ts";
import { memories } from "../arbitrary.ts";
import { remembered } from "../fixtures.ts";

describe("a memory", () => {
  test("comes back from the store as it was", () => {
    fc.assert(
      fc.property(memories, (memory) => {
        const stored: unknown = JSON.parse(JSON.stringify(memory));
        assert.deepEqual(parseMemory(stored), { ok: true, memory: stored });
      }),
    );
  });

  test("parses an arbitrary stored value without an exception", () => {
    fc.assert(fc.property(fc.anything(), (stored) => typeof parseMemory(stored).ok === "boolean"));
  });

  const good = remembered();
  const cases: readonly { name: string; stored: unknown; told: string }[] = [
    { name: "no memory", stored: undefined, told: "" },
    { name: "an unknown phase", stored: { ...good, state: { phase: "SLEEPING" } }, told: "state" },
    { name: "an end without its time", stored: { ...good, state: { phase: "COMPLETED" } }, told: "state.endedAt" },
    { name: "a fractional attempt", stored: { ...good, attempt: 1.5 }, told: "attempt" },
    { name: "a driver without its identity", stored: { ...good, driver: { attempt: 1 } }, told: "driver.submissionId" },
  ];
  for (const { name, stored, told } of cases) {
    test(`reports ${name} by its field`, () => {
      const read = parseMemory(stored);
      assert.ok(!read.ok && read.error.includes(told), JSON.stringify(read));
    });
  }
});
