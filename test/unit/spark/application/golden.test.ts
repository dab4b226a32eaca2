/**
 * Each pair of files is a case: `case.in.yaml` has the object, its children, the memory and the time, `case.out.yaml`
 * the plan. Instants are written as text. A memory is written as a merge patch (RFC 7386) of the one that the step before
 * saved, a status as one of `runningStatus`. UPDATE_GOLDEN=1 writes the plans anew, to be read before they are believed.
 */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { Document, isCollection, isPair, parse, visit } from "yaml";
import * as z from "zod";
import { mergePatch as patchOf } from "../../../../shared/core/json.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { mergePatch as patched } from "../../../../shared/simulator/schema/patch.ts";
import { parseMemory } from "../../../../shared/spark/application/state/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import { application, asked, decided, digested, pod, said, spec } from "./fixtures.ts";

const folder = join(import.meta.dirname, "golden");
const instants = new Set(["endedAt", "retryAt", "plannedAt", "submittedAt", "wakeAt"]);

/** The memory of a run whose driver was created a minute ago. */
const runningMemory = {
  attempt: 1,
  submissions: 1,
  executions: 1,
  plannedAt: "2026-11-02T07:59:00Z",
  driver: {
    attempt: 1,
    submissionId: "submission-1",
    applicationId: "spark-1",
    podName: "spark-pi-driver",
    submittedAt: "2026-11-02T07:59:00Z",
    uid: "driver-1",
  },
  state: { phase: "RUNNING" },
};

/** The status of that run. */
const runningStatus = {
  applicationState: { state: "RUNNING" },
  driverInfo: { podName: "spark-pi-driver" },
  sparkApplicationId: "spark-1",
  submissionID: "submission-1",
  lastSubmissionAttemptTime: "2026-11-02T07:59:00Z",
  submissionAttempts: 1,
  executionAttempts: 1,
};

const short = z.strictObject({
  name: z.string().optional(),
  uid: z.string().optional(),
  role: z.string().optional(),
  owner: z.string().optional(),
  submission: z.string().optional(),
  attempt: z.string().optional(),
  executor: z.number().optional(),
  phase: z.string().optional(),
  exitCode: z.number().optional(),
  reason: z.string().optional(),
  finishedAt: z.string().optional(),
  ending: z.boolean().optional(),
  waiting: z.string().optional(),
});

const thing = z.strictObject({ name: z.string(), uid: z.string(), ending: z.boolean().optional() });

const input = z.strictObject({
  /** The test's name. */
  about: z.string(),
  now: z.string(),
  /** Merged over an application with a complete spec; null if the object is deleted. */
  object: z
    .strictObject({
      metadata: z.record(z.string(), z.unknown()).optional(),
      spec: z.record(z.string(), z.unknown()).optional(),
      status: z.unknown().optional(),
    })
    .nullable()
    .default({}),
  /** A patch of `runningMemory`; `spec` is the digest of the object's spec unless it is given. */
  memory: z
    .record(z.string(), z.unknown())
    .transform((patch): object => Object(patched(runningMemory, patch)))
    .optional(),
  pods: z.array(short).default([]),
  live: z.array(short).optional(),
  services: z.array(thing).default([]),
  configMaps: z.array(thing).default([]),
  refused: z.strictObject({ status: z.number(), reason: z.string(), message: z.string() }).optional(),
});

type Input = z.infer<typeof input>;

const map = (value: unknown, change: (key: string, value: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => map(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(change(key, item), change)]));
};

const fromText = (value: unknown): unknown =>
  map(value, (key, item) => (instants.has(key) && typeof item === "string" ? Date.parse(item) : item));

const toText = (value: unknown): unknown =>
  map(value, (key, item) => (instants.has(key) && typeof item === "number" ? timeText(item) : item));

const memoryOf = (given: Input, own: string) => {
  if (given.memory === undefined) return undefined;
  const read = parseMemory(fromText({ normaliser: 1, generation: 1, spec: own, ...given.memory }));
  assert.ok(read.ok, read.ok ? "" : read.error);
  return read.memory;
};

const defined = (value: object): object =>
  JSON.parse(JSON.stringify(value, (_, item: unknown) => (item === undefined ? undefined : item)));

const stored =
  (kind: string) =>
  ({ name, uid, ending }: z.infer<typeof thing>) => ({
    apiVersion: "v1",
    kind,
    metadata: {
      name,
      namespace: "default",
      uid,
      resourceVersion: "1",
      ownerReferences: [{ apiVersion: "v1", kind: "SparkApplication", name: "spark-pi", uid: "app-1" }],
      ...(ending === true ? { deletionTimestamp: "2026-11-02T07:59:00Z" } : {}),
    },
  });

const run = (given: Input): unknown => {
  const { object, refused } = given;
  const whole = { ...spec, ...object?.spec };
  const about =
    object === null
      ? undefined
      : application({ ...defined({ metadata: object.metadata, status: object.status }), spec: whole });
  const own = digested(whole);
  const effect = {
    do: "create",
    object: application(),
    resource: { group: "", version: "v1", plural: "pods", kind: "Pod" },
    owner: "app-1",
  } as const;
  const { plan, looks, before } = decided({
    object: about,
    memory: memoryOf(given, own),
    now: Date.parse(given.now),
    pods: given.pods.map((one) => pod(defined(one))),
    ...(given.live === undefined ? {} : { live: given.live.map((one) => pod(defined(one))) }),
    services: given.services.map(stored("Service")),
    configMaps: given.configMaps.map(stored("ConfigMap")),
    refused: refused === undefined ? [] : [{ ...refused, effect }],
  });
  const { memory, stages, next, ...rest } = plan;
  // history.test.ts tests the history, so the plan's text leaves it out.
  const { normaliser: _, spec: digest, history: __, untold: ___, ...kept } = memory;
  return toText({
    looks: looks.map(asked),
    memory: { ...kept, ...(digest === own ? {} : { spec: "another" }) },
    ...(before.length === 0 ? {} : { before: before.map(said) }),
    stages: stages.filter((stage) => stage.length > 0).map((stage) => stage.map(said)),
    ...rest,
    next: { do: next.do, ...waitIn(plan) },
  });
};

type Written = { readonly looks?: unknown; readonly memory?: unknown; readonly status?: unknown };

/** Returns the plan of a file, whole. */
const planIn = (text: string, given: Input): unknown => {
  const { memory = {}, status, ...rest }: Written = parse(text);
  const whole = status === undefined ? {} : { status: patched(runningStatus, status) };
  return { ...rest, memory: patched(savedIn(given), memory), ...whole };
};

/** The memory that the step before saved, as a plan shows it. */
const savedIn = ({ memory }: Input): object => (memory === undefined ? {} : { generation: 1, ...memory });

/** Returns the text of a plan, which `planIn` reads. Collections of scalars stand on one line. */
const textOf = ({ looks, memory, status, ...rest }: Written, given: Input): string => {
  const change = patchOf(savedIn(given), memory);
  const document = new Document({
    looks,
    ...(change === undefined ? {} : { memory: change }),
    ...rest,
    ...(status === undefined ? {} : { status: patchOf(runningStatus, status) ?? {} }),
  });
  visit(document, {
    Collection: (key, node) => {
      const values: readonly unknown[] = node.items.map((item: unknown) => (isPair(item) ? item.value : item));
      if (key !== null && !values.some(isCollection)) node.flow = JSON.stringify(node).length < 120;
    },
  });
  return document.toString({ lineWidth: 120 });
};

describe("a SparkApplication's plan", () => {
  for (const file of globSync("*.in.yaml", { cwd: folder }).sort()) {
    const given = input.parse(parse(readFileSync(join(folder, file), "utf8")));
    const out = join(folder, `${basename(file, ".in.yaml")}.out.yaml`);
    test(`${basename(file, ".in.yaml")}: ${given.about}`, () => {
      const plan = JSON.parse(JSON.stringify(run(given)));
      if (process.env["UPDATE_GOLDEN"] !== undefined) writeFileSync(out, textOf(plan, given));
      assert.ok(existsSync(out), `${out} is missing`);
      assert.deepEqual(plan, planIn(readFileSync(out, "utf8"), given));
    });
  }

  test("every plan belongs to a case", () => {
    const cases = new Set(globSync("*.in.yaml", { cwd: folder }).map((file) => basename(file, ".in.yaml")));
    const plans = globSync("*.out.yaml", { cwd: folder }).map((file) => basename(file, ".out.yaml"));
    assert.deepEqual(
      plans.filter((name) => !cases.has(name)),
      [],
    );
  });
});
