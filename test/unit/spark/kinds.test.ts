/**
 * Bad input of the other Spark kinds: one message in admission and in the status, nothing created, and a corrected spec
 * works.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import type { Operator } from "../../../shared/core/operator.ts";
import type { Plan } from "../../../shared/core/plan.ts";
import { defaultOptions } from "../../../shared/spark/auxiliary-objects/options.ts";
import { sparkConnect } from "../../../shared/spark/connect/decide.ts";
import { scheduledSparkApplication } from "../../../shared/spark/scheduled/decide.ts";
import { resultOf } from "../../support/decisions.ts";
import { creating, said } from "./admission/reviews.ts";
import { goodConnect, goodSchedule, type KindRow, kindRows } from "./input/kinds.ts";

const operators: Readonly<Record<KindRow["kind"], Operator<unknown>>> = {
  ScheduledSparkApplication: scheduledSparkApplication({ settledMs: 16_000 }),
  SparkConnect: sparkConnect({
    apiServer: "https://kubernetes.default.svc",
    sparkDefaults: {},
    exposure: defaultOptions,
  }),
};

const mended = { ScheduledSparkApplication: goodSchedule, SparkConnect: goodConnect };

const stored = ({ kind, metadata }: KindRow, spec: unknown, generation: number): Stored => ({
  apiVersion: kind === "SparkConnect" ? "sparkoperator.k8s.io/v1alpha1" : "sparkoperator.k8s.io/v1beta2",
  kind,
  metadata: {
    ...{ name: "x", namespace: "team", uid: "uid-1", resourceVersion: "1", generation },
    creationTimestamp: "2026-11-21T08:00:00Z",
    ...metadata,
  },
  ...(spec === undefined ? {} : { spec }),
});

/** Decides once in an empty cluster. */
const planOf = (object: Stored, operator: Operator<unknown>, memory: unknown): Plan<unknown> => {
  const key = { cluster: "here", kind: object.kind, namespace: "team", name: object.metadata.name };
  const now = Date.UTC(2026, 10, 21, 9);
  const view = { object, uid: "uid-1", memory, now, refused: [] };
  return resultOf(operator.decide(key, view), { objects: () => [] });
};

const creations = ({ stages }: Plan<unknown>): number =>
  stages.flat().filter((effect) => effect.do === "create").length;

const within = ({ source }: RegExp): RegExp => new RegExp(source.replace(/^\^/, "").replace(/\$$/, ""));

/** Returns the error in the status, in the field of its kind. */
const wrongIn = ({ status }: Plan<unknown>): string => {
  const { reason, conditions } = JSON.parse(JSON.stringify(status ?? {}));
  return String(reason ?? conditions?.[0]?.message ?? "");
};

const failed = ({ status }: Plan<unknown>): unknown => status?.["scheduleState"] ?? status?.["state"];

describe("bad input of schedules and servers", () => {
  for (const row of kindRows)
    test(`${row.name}: admission gives the message`, () => {
      assert.match(said(creating(row.kind, row.spec, row.metadata)), within(row.says));
    });

  for (const row of kindRows)
    test(`${row.name}: without a webhook the status has the message, no object exists, a corrected spec works`, () => {
      const operator = operators[row.kind];
      const plan = planOf(stored(row, row.spec, 1), operator, undefined);
      assert.match(wrongIn(plan), row.says);
      assert.match(String(failed(plan)), /^Failed/);
      assert.equal(creations(plan), 0);
      const better = stored({ ...row, metadata: {} }, mended[row.kind], 2);
      assert.match(String(failed(planOf(better, operator, plan.memory))), /^(Scheduled|NotReady)$/);
    });

  test("has at least 40 rows", () => assert.ok(kindRows.length >= 40, `${kindRows.length}`));
});
