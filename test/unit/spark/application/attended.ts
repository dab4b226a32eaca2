/** Steps of a run whose driver runs, as rows: objects, probe results and the expected plan. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { ProbeResult } from "../../../../shared/core/plan.ts";
import type { Memory } from "../../../../shared/spark/application/state/memory.ts";
import type { Ledger } from "../../../../shared/spark/executors/ledger.ts";
import { waitIn } from "../../../support/plans.ts";
import { executor, type Short, uidOf } from "../executors/pods.ts";
import { application, asked, decided, driver, eight, pod, remembered, said, spec } from "./fixtures.ts";

export const status = {
  applicationState: { state: "RUNNING" },
  submissionID: "submission-1",
  driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
};

export const heard = (value: unknown): ProbeResult => ({ heard: true, value });
export const node = (ready: string, since: string, taints: readonly string[] = []): ProbeResult =>
  heard({
    spec: { taints: taints.map((key) => ({ key })) },
    status: { conditions: [{ type: "Ready", status: ready, lastTransitionTime: since }] },
  });
export const hidden: ProbeResult = { heard: false, why: "forbidden", message: "no" };

export const registered = (
  entries: Readonly<Record<string, readonly [isActive: boolean, active?: number, done?: number]>>,
) =>
  heard(
    Object.entries({ driver: [true] as const, ...entries }).map(
      ([id, [isActive, activeTasks = 0, completedTasks = 0]]) => ({
        ...{ id, isActive, activeTasks, completedTasks },
      }),
    ),
  );

/** Returns a ledger in which the executors of these ids live. */
export const living = (ids: readonly number[], more: Partial<Ledger> = {}): Ledger => ({
  attempt: 1,
  ...(ids.length === 0 ? {} : { live: ids.join(","), marks: ids.map((id) => uidOf(id).slice(0, 8)).join("") }),
  ...more,
});

export const at = (time: string): number => Date.parse(`2026-11-02T${time}Z`);
export const failed = { phase: "Failed", finishedAt: "2026-11-02T07:59:58Z" } as const;
export const pending = { phase: "Pending" } as const;

export type Row = {
  readonly why: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly sparkConf?: Readonly<Record<string, string>>;
  readonly instances?: number;
  readonly ledger?: Ledger;
  readonly executors?: readonly Short[];
  /** The status does not name the executors yet. */
  readonly unnamed?: boolean;
  readonly timeToLiveSeconds?: number;
  /** The probe results, by the last part of the path or the object's name. */
  readonly hears?: Readonly<Record<string, ProbeResult>>;
  readonly denied?: boolean;
  /** The executors of a second list, if it shows others. */
  readonly again?: readonly Short[];
  readonly body?: Stored;
  readonly looks?: readonly string[];
  readonly does: readonly string[];
  readonly lost?: Ledger["lost"];
  readonly wakeAt?: number;
  /** When to step again without saving the time; absent: not asserted. */
  readonly pollMs?: number | "never";
  readonly waits?: RegExp;
  readonly phase?: string;
  readonly care?: Ledger["care"];
  /** Ids of the executors that are about to be ended; absent: not asserted. */
  readonly doomed?: readonly number[];
};

export const alive = (...ids: readonly number[]): readonly Short[] => ids.map((id) => ({ id }));
export const young = { created: "2026-11-02T07:59:00Z", started: "2026-11-02T07:59:00Z" } as const;
export const both = alive(1, 2).map((one) => ({ ...one, ...young, node: one.id === 1 ? "node-0" : "node-1" }));
export const ask = "ask spark-pi-driver:4040 api/v1/applications/spark-1/allexecutors";
export const lostOnce = { lost: { failed: 1 }, over: "9" } as const;

export const grown = { created: "2026-11-02T07:50:00Z", started: "2026-11-02T07:54:00Z" } as const;
export const old = alive(1, 2).map((one) => ({ ...one, ...grown }));
export const doneSo = (tasks: number, [executors, running]: readonly [number, number], more = {}) => ({
  pulse: {
    ...{ at: eight, tasks, movedAt: eight, ...more },
    words: { executors, running, failed: 0, shuffle: 0, heap: 0 },
  },
});

const memoryOf = ({ ledger }: Row): Memory =>
  remembered({ driver, state: { phase: "RUNNING" }, ...(ledger === undefined ? {} : { executors: ledger }) });

const objectOf = ({ annotations = {}, sparkConf, instances = 2, executors = [], ...row }: Row): Stored => {
  const { unnamed = false, timeToLiveSeconds } = row;
  const executorState = Object.fromEntries(executors.map(({ id }) => [`pi-exec-${id}`, "RUNNING"]));
  return application({
    metadata: { annotations },
    spec: {
      ...spec,
      executor: { instances, cores: 1, memory: "512m" },
      ...(sparkConf === undefined ? {} : { sparkConf }),
      ...(timeToLiveSeconds === undefined ? {} : { timeToLiveSeconds }),
    },
    status: unnamed ? status : { ...status, executorState },
  });
};

/** Shortens the text of an effect. States of executors in the status have tests of their own. */
const brief = (line: string): string =>
  line
    .replace(
      /^delete pods (\S+) if it is \S+( at \S+)?( at once as Failed NodeLost)?$/,
      (_, name, rv = "", now) => `${now ? "force" : "delete"} ${name}${rv}`,
    )
    .replace(/^tell \w+ (Executor|Driver)(\w+) \([^)]*\)/, "tell $1$2")
    .replace(/^tell \w+ (\w+) \([^)]*\): (.*)$/, (_, reason, text) =>
      reason.startsWith("Spark") ? `tell ${reason}` : `tell ${reason}: ${text}`,
    );

const notOfStates = (line: string): boolean => !/^tell \w+ SparkExecutor/.test(line);

/** A driver pod that has run long enough for startup checks to be over. */
const body = (): Stored => {
  const one = pod();
  return { ...one, status: { ...Object(one["status"]), startTime: "2026-11-02T07:59:00Z" } };
};

const without = <Value extends object>(value: Value | undefined): object | undefined => value && { ...value };

/** Declares one test for each row. */
export const tested = (what: string, rows: readonly Row[]): void => {
  describe(what, () => {
    for (const row of rows)
      test(row.why, () => {
        const object = objectOf(row);
        const memory = { ...memoryOf(row) };
        const pods = [row.body ?? body(), ...(row.executors ?? []).map(executor)];
        const given = { object, memory: { ...memory, generation: 0, normaliser: -1 }, pods };
        const { hears = {}, denied = false } = row;
        const again = row.again === undefined ? {} : { again: row.again.map(executor) };
        const { plan, looks, before } = decided({ ...given, ...again, hears, denied });
        const lines = [...before, ...plan.stages.flat()].map(said).filter(notOfStates).map(brief);
        assert.deepEqual(lines, row.does);
        assert.deepEqual(looks.map(asked).slice(1), row.looks ?? []);
        const { executors } = plan.memory;
        assert.deepEqual([executors?.lost, without(executors?.care)], [row.lost, row.care]);
        const doomed = (executors?.doomed ?? []).map(({ id }) => id);
        assert.deepEqual(doomed, row.doomed ?? doomed);
        assert.equal(plan.memory.state.phase, row.phase ?? "RUNNING");
        assert.equal(waitIn(plan).wakeAt, row.wakeAt);
        const { pollMs = "never" } = waitIn(plan);
        assert.equal(pollMs, row.pollMs ?? pollMs);
        assert.match(waitIn(plan).waitsFor ?? "", row.waits ?? /(?:)/);
      });
  });
};
