/**
 * Records that are damaged in every field, of every kind: a step neither fails nor hangs, names the defect where it
 * shows, and touches no other object.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { Obj } from "../../../../shared/core/object.ts";
import { operatorsFor } from "../../../../shared/deployments/common/operators.ts";
import { readAny } from "../../../../shared/engine/checkpoint/record.ts";
import { timing } from "../../../../shared/engine/settings.ts";
import { readCursor } from "../../../../shared/updates/cursor.ts";
import { at, textAt } from "../../../proof/sweep/fields.ts";
import { everyNth } from "../../../support/cases.ts";
import {
  application,
  connect,
  cronJob,
  jobFlow,
  queue,
  schedule,
  sparkCluster,
  volcanoJob,
} from "../../host/objects.ts";
import { cutOff, type Spoil, spoilsOf } from "./spoils.ts";
import { brokenRecord, type Making, neighbour, type Outcome, openWard, type Ward } from "./ward.ts";

const both = [brokenRecord, neighbour] as const;
const hanging = { hangs: true } as const;
const retrying = { restartPolicy: { type: "OnFailure", onFailureRetries: 3, onFailureRetryInterval: 3_600 } } as const;
const two = { executor: { instances: 2, cores: 1, memory: "512m" } } as const;
const base = { scripts: { "*": [hanging, hanging] }, rounds: 6, pauseMs: 5_000 } as const;

const spark = (annotations: Readonly<Record<string, string>> = {}, spec: object = {}): readonly Obj[] =>
  both.map((name) => application(name, { annotations, spec: { ...two, ...spec } }));

const rows: Readonly<Record<string, Making>> = {
  "a run of Spark": { ...base, kind: "SparkApplication", objects: spark() },
  "a run whose executors are ours, one of them lost": {
    ...base,
    kind: "SparkApplication",
    objects: spark({ "rekindle.dev/executors": "own" }),
    kill: { role: "executor", code: 137 },
  },
  "a run that failed, and waits for its next": {
    ...base,
    kind: "SparkApplication",
    objects: spark({}, retrying),
    kill: { role: "driver", code: 1 },
  },
  "a schedule": {
    ...base,
    kind: "ScheduledSparkApplication",
    objects: both.map((name) => schedule(name, { schedule: "@every 10s" })),
  },
  "a cluster": { ...base, kind: "SparkCluster", objects: both.map((name) => sparkCluster(name)) },
  "a server": { ...base, kind: "SparkConnect", objects: both.map((name) => connect(name)) },
  "a job": { ...base, kind: "Job", objects: [queue, ...both.map((name) => volcanoJob(name, hanging))] },
  "a CronJob": { ...base, kind: "CronJob", pauseMs: 30_000, objects: both.map((name) => cronJob(name, hanging)) },
  "a flow": {
    ...base,
    kind: "JobFlow",
    objects: both.flatMap((name) => jobFlow(name, [`${name}-a`, `${name}-b`], hanging)),
  },
};

/** Tells whether a write only reports that a record cannot be used: an Event or a status. */
const isTelling = (write: string): boolean => /\/events(\/|$)|\/status$/.test(write);

/** Tells whether a step failed or met trouble, other than leftovers of its own earlier attempt. */
const isStuck = (ending: Outcome["endings"][number]): boolean =>
  ending === undefined || (ending.did === "troubled" && ending.reason !== "StillThere");

const wrongWith = async (ward: Ward, spoil: Pick<Spoil, "record">, strict: boolean): Promise<readonly string[]> => {
  const { endings, faults, writes } = await ward.treat(spoil.record, { strict, edited: false });
  const [ending] = endings;
  const stopped = ending?.did === "stopped" && writes.some((write) => !isTelling(write));
  return [
    ...faults,
    ...endings.filter(isStuck).map((one) => JSON.stringify(one ?? "delivered again")),
    ...(stopped ? [`stopped, and wrote ${writes.join(", ")}`] : []),
    ...writes.filter((write) => write.includes(neighbour)),
    ...(ward.picture() === ward.opening ? [] : ["its neighbour is another than before"]),
  ];
};

describe("a record with one damaged field affects no other object, and its step ends", () => {
  for (const [name, making] of Object.entries(rows))
    test(name, async () => {
      const ward = await openWard(making);
      const spoils = spoilsOf(...ward.records);
      assert.ok(spoils.length > 50, `${spoils.length} spoils`);
      const wrong: string[] = [];
      for (const spoil of everyNth(6, spoils))
        for (const strict of [true, false])
          wrong.push(
            ...(await wrongWith(ward, spoil, strict)).map(
              (one) => `${spoil.says}${strict ? "" : ", not strict"}: ${one}`,
            ),
          );
      assert.deepEqual(wrong, []);
    });
});

describe("a record that was changed after its save", () => {
  const run = rows["a run of Spark"];
  const stateOf = (ward: Ward): readonly unknown[] => [
    textAt(ward.get("SparkApplication", brokenRecord), "status", "applicationState", "state"),
    textAt(ward.get("Pod", `${brokenRecord}-driver`), "metadata", "uid"),
  ];
  const opened = async (): Promise<readonly [Ward, readonly unknown[]]> => {
    assert.ok(run);
    const ward = await openWard(run);
    await ward.treat(ward.records[0], { strict: true, edited: false });
    const state = stateOf(ward);
    assert.equal(state[0], "RUNNING");
    return [ward, state];
  };

  test("is refused, whatever its change, and the refusal names the defect", async () => {
    const [ward] = await opened();
    for (const { says, record } of everyNth(6, spoilsOf(...ward.records), 1)) {
      const { endings, writes } = await ward.treat(record, { strict: true, edited: true });
      const [ending] = endings;
      assert.deepEqual([ending?.did, writes.filter((write) => !isTelling(write))], ["stopped", []], says);
      assert.match(String(at(ending, "why")), /edited by hand|cannot be read|newer/, says);
    }
  });

  test("loses no run if its readable part is kept, because the living driver is better evidence", async () => {
    const [ward, before] = await opened();
    // A record of another cluster is no evidence of the driver in this one.
    const here = spoilsOf(...ward.records).filter(({ path: [field] }) => field !== "cluster" && field !== "schema");
    for (const { says, record } of everyNth(6, here, 2)) {
      await ward.treat(record, { strict: false, edited: true });
      assert.deepEqual(stateOf(ward), before, says);
    }
  });

  test("is refused with the name of a field whose value no record can have, sealed or not", async () => {
    const [ward] = await opened();
    const absurd = spoilsOf(...ward.records).filter((spoil) => spoil.absurd);
    assert.ok(absurd.length > 20);
    for (const { says, path, record } of absurd) {
      const { endings } = await ward.treat(record, { strict: true, edited: false });
      const field = path.slice(path[0] === "memory" ? 1 : 0, 2).join(".");
      assert.ok(String(at(endings[0], "why")).includes(field), `${says}: ${at(endings[0], "why")}`);
    }
  });

  test("is refused if it was cut off at any length", async () => {
    const [ward, before] = await opened();
    for (const { says, record } of cutOff(ward.records[0], 24)) {
      const strict = await ward.treat(record, { strict: true, edited: false });
      assert.deepEqual(
        [strict.endings[0]?.did, strict.writes.filter((write) => !isTelling(write))],
        ["stopped", []],
        says,
      );
      await ward.treat(record, { strict: false, edited: false });
      assert.deepEqual(stateOf(ward), before, says);
    }
  });
});

describe("the parser of released records", () => {
  const folder = new URL("released/", import.meta.url);
  const parsers = new Map(operatorsFor(timing).map(({ kind, parse }) => [kind, parse]));
  /** Returns the defect of a record; undefined if it can be used. */
  const complaint = (kind: string, stored: unknown): string | undefined => {
    const read = readAny(stored);
    if (!read.ok) return read.error;
    const memory = parsers.get(kind)?.(read.record.memory);
    if (memory !== undefined) return memory.ok ? undefined : memory.error;
    return readCursor(read.record.memory) === undefined ? "no cursor" : undefined;
  };
  /** Tells whether a field is stored and never read. */
  const isUnread = ({ path }: Spoil): boolean => path.join(".").startsWith("recovered.was");

  for (const file of readdirSync(folder).sort())
    test(`refuses every impossible field of ${file}, and never throws`, () => {
      const { kind, spec } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
      const spoils = spoilsOf(spec, undefined);
      const absurd = spoils.filter((spoil) => spoil.absurd && !isUnread(spoil));
      assert.ok(absurd.length > 5);
      for (const { record } of spoils) complaint(kind, record);
      assert.deepEqual(
        absurd.filter(({ record }) => complaint(kind, record) === undefined).map(({ says }) => says),
        [],
      );
    });
});
