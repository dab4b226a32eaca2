/** Log lines of a function: one JSON object each, in which a field never replaces the line's own fields. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lineReport } from "../../../../shared/adapters/telemetry/lines.ts";

test("a log line has its level and message, and a field named message becomes why", (t) => {
  const log = t.mock.method(console, "log", () => {});
  const report = lineReport("info");
  report("debug", "not told");
  report("info", "step", { key: "a", did: "step" });
  report("warn", "held up by the platform", { key: "a", message: "quota", reason: "Forbidden" });
  const lines = log.mock.calls.map(({ arguments: [line] }): unknown => JSON.parse(String(line)));
  log.mock.restore();
  assert.deepEqual(lines, [
    { level: "info", message: "step", key: "a", did: "step" },
    { level: "warn", message: "held up by the platform", key: "a", reason: "Forbidden", why: "quota" },
  ]);
});
