/** A driver that no step ever saw: if it existed, it was lost; otherwise its attempt is submitted again. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldsOf } from "../../../../../shared/core/json.ts";
import { application, decided, driver, eight, pod, remembered, type Short } from "../fixtures.ts";

const { uid: _, ...unseen } = driver;
const memory = remembered({ state: { phase: "SUBMITTED" }, plannedAt: 0, driver: unseen });
const shown = (submissionID: string) => application({ status: { submissionID } });

describe("a missing driver that no step ever saw", () => {
  const rows = [
    { when: "the status names its submission", object: shown(driver.submissionId), lost: true },
    { when: "the status names another submission", object: shown("earlier"), lost: false },
    { when: "the status names no submission", object: application(), lost: false },
  ];
  for (const { when, object, lost } of rows)
    test(`${lost ? "was lost" : "is submitted again under its attempt"} when ${when}`, () => {
      const { plan } = decided({ object, memory, pods: [] });
      assert.equal(plan.memory.attempt, 1);
      assert.equal(plan.memory.state.phase === "FAILING" || plan.memory.state.phase === "FAILED", lost);
    });
});

describe("the node and the start of a driver", () => {
  const upAt = "2026-11-02T07:59:00Z";
  const on = (node: string, short: Short = {}) => {
    const one = pod(short);
    return { ...one, spec: { nodeName: node }, status: { ...fieldsOf(one["status"]), startTime: upAt } };
  };
  const driverAfter = (state: Parameters<typeof remembered>[0], seen: ReturnType<typeof on>) =>
    decided({ object: application(), memory: remembered(state), pods: [seen] }).plan.memory.driver;
  const submitted = { phase: "SUBMITTED" } as const;
  const runs = { phase: "RUNNING" } as const;
  const pending = { phase: "Pending", waiting: "ContainerCreating" } as const;
  const rows = [
    {
      when: "a step sees the pod for the first time",
      state: { state: submitted, driver: unseen },
      pod: pending,
      taken: true,
    },
    { when: "its pod starts", state: { state: submitted, driver }, pod: {}, taken: true },
    { when: "its pod has failed", state: { state: runs, driver }, pod: { phase: "Failed", exitCode: 1 }, taken: true },
    {
      when: "nothing else is to be saved: it still starts",
      state: { state: submitted, driver },
      pod: pending,
      taken: false,
    },
    { when: "nothing else is to be saved: it still runs", state: { state: runs, driver }, pod: {}, taken: false },
  ] as const;
  for (const { when, state, pod: short, taken } of rows)
    test(`${taken ? "is remembered when" : "makes no save when"} ${when}`, () => {
      const known = driverAfter(state, on("node-1", short));
      assert.equal(known?.node, taken ? "node-1" : undefined);
      // A pod whose image is being pulled has not started.
      assert.equal(known?.upAt, taken && short !== pending ? Date.parse(upAt) : undefined);
    });

  test("stays while its pod runs on, and when the pod is gone", () => {
    const known = { state: runs, driver: { ...driver, node: "node-1" } };
    assert.equal(driverAfter(known, on("node-1"))?.node, "node-1");
    assert.equal(
      decided({ object: application(), memory: remembered(known), pods: [] }).plan.memory.driver?.node,
      "node-1",
    );
  });
});

describe("the distance that the next attempt keeps", () => {
  const { submittedAt } = driver;
  const rows = [
    { what: "is over once the pod of the one plan is seen", plannedAt: submittedAt, attempt: "1", kept: undefined },
    {
      what: "stays if a later save planned the pod, too",
      plannedAt: submittedAt + 1,
      attempt: "1",
      kept: submittedAt + 1,
    },
    { what: "stays if another attempt's pod is seen", plannedAt: submittedAt, attempt: "none", kept: submittedAt },
  ];
  for (const { what, plannedAt, attempt, kept } of rows)
    test(what, () => {
      const planned = remembered({ state: { phase: "SUBMITTED" }, plannedAt, driver: unseen });
      const { plan } = decided({ object: application(), memory: planned, pods: [pod({ attempt, phase: "Pending" })] });
      assert.deepEqual([plan.memory.driver?.uid, plan.memory.plannedAt], ["driver-1", kept]);
    });

  test("begins again within the second of the first plan, when the driver is planned again", () => {
    const again = remembered({
      ...{ state: { phase: "SUBMITTED" }, plannedAt: eight },
      driver: { ...unseen, submittedAt: eight },
    });
    const { plan } = decided({ object: application(), memory: again, pods: [] });
    assert.deepEqual([plan.memory.attempt, plan.memory.plannedAt], [1, eight + 1]);
  });
});
