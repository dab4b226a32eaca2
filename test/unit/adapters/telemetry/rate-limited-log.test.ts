/** The rate-limited log: repeated lines, new lines, and lines that are never held back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withoutRepeats } from "../../../../shared/adapters/telemetry/log.ts";
import type { Report } from "../../../../shared/engine/ports.ts";

type Said = readonly [atMinute: number, ...Parameters<Report>];

/** Returns the levels of the lines that were written. */
const levels = (...said: readonly Said[]): readonly string[] => {
  const out: string[] = [];
  let minute = 0;
  const report = withoutRepeats(
    (level) => void out.push(level),
    () => minute * 60_000,
  );
  for (const [at, level, message, fields] of said) {
    minute = at;
    report(level, message, fields);
  }
  return out;
};

describe("the rate-limited log", () => {
  const cases: readonly {
    readonly name: string;
    readonly said: readonly Said[];
    readonly levels: readonly string[];
  }[] = [
    {
      name: "writes a warning once, whatever its numbers, and again when it has lasted ten minutes",
      said: [
        [0, "warn", "no", { error: "x", waitMs: 1 }],
        [9, "warn", "no", { error: "x", waitMs: 2 }],
        [10, "warn", "no", { error: "x", waitMs: 3 }],
        [11, "warn", "no", { error: "x", waitMs: 4 }],
      ],
      levels: ["warn", "debug", "warn", "debug"],
    },
    {
      name: "writes a warning with another cause, subject or message",
      said: [
        [0, "error", "no", { key: "a", error: "x" }],
        [0, "error", "no", { key: "a", error: "y" }],
        [0, "error", "no", { key: "b", error: "x" }],
        [0, "error", "never", { key: "a", error: "x" }],
      ],
      levels: ["error", "error", "error", "error"],
    },
    {
      name: "suppresses no line below a warning",
      said: [
        [0, "info", "done", { key: "a" }],
        [0, "info", "done", { key: "a" }],
        [0, "debug", "step"],
        [0, "debug", "step"],
      ],
      levels: ["info", "info", "debug", "debug"],
    },
  ];
  for (const { name, said, levels: wanted } of cases) it(name, () => assert.deepEqual(levels(...said), wanted));

  const many = (count: number, reason: string): readonly Said[] =>
    Array.from({ length: count }, (_, n): Said => [0, "warn", "held up", { key: `app-${n}`, reason }]);

  it("writes ten warnings of one reason, then one about the others, and suppresses those", () => {
    const wanted = [...Array(10).fill("warn"), "debug", "warn", ...Array(989).fill("debug")];
    assert.deepEqual(levels(...many(1_000, "Forbidden")), wanted);
  });

  it("writes a warning with another reason, and a suppressed one again after ten minutes", () => {
    const later: Said = [10, "warn", "held up", { key: "app-500", reason: "Forbidden" }];
    assert.equal(levels(...many(50, "Forbidden"), ...many(1, "Conflict")).at(-1), "warn");
    assert.equal(levels(...many(50, "Forbidden"), later).at(-1), "warn");
  });
});
