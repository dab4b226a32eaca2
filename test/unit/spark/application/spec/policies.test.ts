/** Annotations: parsed values, values out of range, and the table for people. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policiesOf, policyLines } from "../../../../../shared/spark/application/spec/policies.ts";
import { application, decided, said } from "../fixtures.ts";

const under = (annotations: Readonly<Record<string, string>>) => policiesOf(application({ metadata: { annotations } }));

const plain = {
  driverStartMs: undefined,
  executorStartMs: undefined,
  backoffMaxMs: 300_000,
  goodRunMs: 600_000,
  executorIntervalMs: undefined,
  registrationMs: 300_000,
  pendingMs: 300_000,
  pendingMaxMs: 3_600_000,
  nodeGraceMs: 10_000,
  driverNodeMs: undefined,
  goneMs: 60_000,
  silenceMs: 300_000,
  stallMs: 1_800_000,
  leaveMs: 120_000,
  retentionMs: 86_400_000,
  executorBatch: undefined,
  executorMaxPending: undefined,
  overheadGrowth: undefined,
  executors: "assist",
  executorScaleDown: "idle",
  onExecutorsGone: "tell",
  onDriverHang: "tell",
  unreachableExecutors: "free",
  backoff: "linear",
  returnMs: undefined,
  gang: "false",
  gangRequired: "false",
  restartOn: "policy",
};

describe("annotations", () => {
  test("that are absent mean upstream's behaviour", () => {
    assert.deepEqual(under({}), { policies: plain, problems: [] });
  });

  const cases: readonly { name: string; value: string; want: object }[] = [
    { name: "driver-start-timeout", value: "90s", want: { driverStartMs: 90_000 } },
    { name: "driver-start-timeout", value: "10s", want: { driverStartMs: 10_000 } },
    { name: "driver-start-timeout", value: "1d", want: { driverStartMs: 86_400_000 } },
    { name: "executor-start-timeout", value: " 5m ", want: { executorStartMs: 300_000 } },
    { name: "retry-backoff", value: "exponential", want: { backoff: "exponential" } },
    { name: "retry-backoff-max", value: "2h", want: { backoffMaxMs: 7_200_000 } },
    { name: "retry-reset-after", value: "1s", want: { goodRunMs: 1_000 } },
    { name: "reregistration-timeout", value: "1m", want: { returnMs: 60_000 } },
    { name: "restart-on", value: "infrastructure", want: { restartOn: "infrastructure" } },
    { name: "gang", value: "true", want: { gang: "true" } },
    { name: "gang-required", value: "true", want: { gangRequired: "true" } },
    { name: "executors", value: "own", want: { executors: "own" } },
    { name: "executor-batch", value: " 20 ", want: { executorBatch: 20 } },
    { name: "executor-interval", value: "5s", want: { executorIntervalMs: 5_000 } },
    { name: "executor-registration-timeout", value: "1m", want: { registrationMs: 60_000 } },
    { name: "executor-pending-timeout", value: "10s", want: { pendingMs: 10_000 } },
    { name: "executor-pending-timeout-max", value: "1d", want: { pendingMaxMs: 86_400_000 } },
    { name: "node-grace", value: "30s", want: { nodeGraceMs: 30_000 } },
    { name: "driver-node-timeout", value: "10m", want: { driverNodeMs: 600_000 } },
    { name: "executors-gone-timeout", value: "2m", want: { goneMs: 120_000 } },
    { name: "driver-silence-timeout", value: "10m", want: { silenceMs: 600_000 } },
    { name: "driver-stall-timeout", value: "2h", want: { stallMs: 7_200_000 } },
    { name: "executor-leave-grace", value: "10m", want: { leaveMs: 600_000 } },
    { name: "executor-retention", value: "7d", want: { retentionMs: 604_800_000 } },
    { name: "on-executors-gone", value: "fail", want: { onExecutorsGone: "fail" } },
    { name: "on-driver-hang", value: "restart", want: { onDriverHang: "restart" } },
    { name: "unreachable-executors", value: "wait", want: { unreachableExecutors: "wait" } },
    { name: "executor-max-pending", value: "1", want: { executorMaxPending: 1 } },
    {
      name: "executor-oom-overhead",
      value: "1.5 up to 4Gi",
      want: { overheadGrowth: { factor: 1.5, most: 4_096 } },
    },
    { name: "executor-scale-down", value: "force", want: { executorScaleDown: "force" } },
  ];
  for (const { name, value, want } of cases) {
    test(`${name}: ${value}`, () =>
      assert.deepEqual(under({ [`rekindle.dev/${name}`]: value }), { policies: { ...plain, ...want }, problems: [] }));
  }

  const wrong: readonly { name: string; value: string; want: RegExp }[] = [
    {
      name: "driver-start-timeout",
      value: "9s",
      want: /a duration from 10s to 1d, such as 90s or 5m; no limit applies$/,
    },
    { name: "driver-start-timeout", value: "25h", want: /a duration from 10s to 1d/ },
    {
      name: "driver-start-timeout",
      value: "300",
      want: /^metadata.annotations\[rekindle.dev\/driver-start-timeout\]: "300"/,
    },
    {
      name: "retry-backoff-max",
      value: "-5m",
      want: /a duration from 1s to 1d, such as 90s or 5m; the default of 5m applies/,
    },
    { name: "reregistration-timeout", value: "11m", want: /a duration from 1s to 10m, .*; the host's applies$/ },
    { name: "retry-reset-after", value: "", want: /the default of 10m applies/ },
    { name: "retry-backoff", value: "Exponential", want: /one of linear, exponential; the default of linear applies/ },
    { name: "executor-batch", value: "0", want: /a whole number from 1 to 1000; the default applies/ },
    { name: "executor-batch", value: "1.5", want: /a whole number from 1 to 1000/ },
    { name: "executors", value: "mine", want: /one of assist, own; the default of assist applies/ },
    ...["1.5", "1 up to 4Gi", "11 up to 4Gi", "2 up to 2Ti", "2 up to -1", "2 up to many", "up to 4Gi"].map(
      (value) => ({
        name: "executor-oom-overhead",
        value,
        want: /is not FACTOR up to SIZE, a factor above 1 and up to 10 .*, such as 1.5 up to 4Gi; nothing of it applies$/,
      }),
    ),
    { name: "restart-on", value: "failure", want: /one of policy, infrastructure/ },
  ];
  for (const { name, value, want } of wrong) {
    test(`${name}: ${JSON.stringify(value)} is reported as a problem, and the default applies`, () => {
      const { policies, problems } = under({ [`rekindle.dev/${name}`]: value });
      assert.deepEqual([policies, problems.length], [plain, 1]);
      assert.match(problems[0] ?? "", want);
    });
  }

  test("that are invalid lead to a warning Event and do not stop the submission", () => {
    const object = application({ metadata: { annotations: { "rekindle.dev/restart-on": "x" } } });
    const told = decided({ object }).plan.stages.flat().map(said);
    assert.ok(told.some((line) => line.startsWith("create pods")));
    assert.ok(told.some((line) => /^tell Warning RekindleAnnotationIgnored .*restart-on/.test(line)));
  });
});

test("the table has a row for every annotation, with default and range", () => {
  const lines = policyLines();
  assert.equal(new Set(lines.map(({ annotation }) => annotation)).size, 29);
  assert.deepEqual(
    lines.slice(0, 1).map(({ annotation, default: normally, range }) => [annotation, normally, range]),
    [["rekindle.dev/driver-start-timeout", "off", "10s to 1d"]],
  );
});
