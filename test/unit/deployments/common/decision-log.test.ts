/** Which decisions are written into the log, and how much of it they may take. */
import { deepEqual, equal, match } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { openDecisionLog, type RecordingMode } from "../../../../shared/deployments/common/decision-log.ts";
import type { DecisionRecording } from "../../../../shared/engine/cluster/queries.ts";

const now = Date.UTC(2026, 10, 2, 8);

const objectUntil = (until?: string): Stored => ({
  apiVersion: "toys.example/v1",
  kind: "Toy",
  metadata: {
    ...{ name: "bear", namespace: "ns", uid: "u", resourceVersion: "1" },
    ...(until === undefined ? {} : { annotations: { "rekindle.dev/record-until": until } }),
  },
});

const keyIn = (namespace: string) => ({ cluster: "here", kind: "Toy", namespace, name: "bear" });

const recordingOf = (namespace: string, memory: unknown): DecisionRecording => ({
  ...{ version: 1, key: keyIn(namespace), rounds: [] },
  view: { object: undefined, uid: "u", memory, now, refused: [] },
  plan: { memory, stages: [], next: { do: "rest" } },
});

const opened = (mode: RecordingMode) => {
  const lines: string[] = [];
  const time = { now };
  const report = (level: string, message: string, fields: object = {}) =>
    void lines.push(`${level} ${message.split(":")[0]} ${"recording" in fields ? "with" : "without"}`);
  const { recording } = openDecisionLog({ report, mode, settings: {}, now: () => time.now });
  return { lines, time, recording };
};

test("an annotation enables recordings until its time, and an invalid time enables none", () => {
  const { recording } = opened("annotated");
  const asks = (until?: string): boolean => recording?.(keyIn("ns"), objectUntil(until), now) !== undefined;
  deepEqual(
    [asks("2026-11-02T09:00:00Z"), asks("2026-11-02T08:00:00Z"), asks("tomorrow"), asks()],
    [true, false, false, false],
  );
});

test("the mode all records every decision, and the mode none records nothing", () => {
  equal(opened("all").recording?.(keyIn("ns"), undefined, now) === undefined, false);
  equal(opened("none").recording, undefined);
});

test("a decision that is too large is reported without its recording", async () => {
  const { recording, lines } = opened("all");
  const keep = recording?.(keyIn("ns"), undefined, now);
  await keep?.(undefined);
  await keep?.(recordingOf("ns", randomBytes(200_000).toString("hex")));
  await keep?.(recordingOf("ns", "x".repeat(3_000_000)));
  deepEqual(
    lines,
    Array.from({ length: 3 }, () => "info a decision was not recorded without"),
  );
});

test("recordings are bounded to 2 MiB a minute for a namespace and 8 MiB for the process", async () => {
  const { recording, lines, time } = opened("all");
  const memory = randomBytes(60_000).toString("hex");
  const record = async (namespace: string): Promise<string> => {
    lines.length = 0;
    await recording?.(keyIn(namespace), undefined, now)?.(recordingOf(namespace, memory));
    return lines.join();
  };
  const written = async (namespace: string): Promise<number> => {
    let count = 0;
    while ((await record(namespace)) === "info a decision was recorded with" && count < 1_000) count += 1;
    return count;
  };
  const own = await written("a");
  equal(own > 8 && own < 40, true, `${own} of one namespace`);
  match(await record("a"), /^warn decisions are not recorded until the next minute/);
  const others: number[] = [];
  for (const namespace of ["b", "c", "d", "e", "f", "g"]) others.push(await written(namespace));
  equal(others[0], own);
  equal(others.at(-1), 0);
  time.now += 60_000;
  equal(await written("a"), own);
});
