/** Names that derive from the name of a Volcano object stay within the API server's bounds, or the object is refused. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { subdomainErrors } from "../../../shared/kube/names.ts";
import { jobName as cronJobName } from "../../../shared/volcano/cron/memory.ts";
import { readCronSpec } from "../../../shared/volcano/cron/read.ts";
import { jobName as flowJobName, readFlowSpec } from "../../../shared/volcano/flow/read.ts";
import { workloadName } from "../../../shared/volcano/kueue/workload.ts";
import { objectsOf, onPod } from "../../../shared/volcano/plugins/all.ts";
import { podGroup } from "../../../shared/volcano/podgroup/group.ts";
import { claimName, nativeGroupName } from "../../../shared/volcano/pods/names.ts";
import { podDraft } from "../../../shared/volcano/pods/pod.ts";
import { type JobSpec, tasksOf } from "../../../shared/volcano/schema/spec.ts";
import { bareGroup } from "../../../shared/volcano/ungrouped-pods/decide.ts";
import { parseSpec } from "../../../shared/volcano/validation/parse.ts";
import { nameErrorsIn } from "../../support/object-names.ts";

const uid = "0f9c2b1e-3a44-4c1a-9d0e-6f2f5a1b7c88";
const lengths = [...Array.from({ length: 70 }, (_, at) => at + 1), 128, 252, 253];

const container = { name: "main", image: "x" };
const template = {
  spec: { restartPolicy: "Never", containers: [container], initContainers: [{ name: "first", image: "x" }] },
};

/** Every plugin with names of its own. */
const plugins = { svc: [], ssh: [], env: [], ray: ["--head=h", "--worker=w"] };

const specOf = (more: object) => ({
  ...{ schedulerName: "volcano", queue: "default", minAvailable: 1 },
  tasks: [
    { name: "h", replicas: 1, template },
    { name: "w", replicas: 2, template },
  ],
  volumes: [{ mountPath: "/data", volumeClaim: { storageClassName: "fast" } }],
  ...more,
});

const podOf = (owner: { name: string; namespace: string; uid: string }, spec: JobSpec, index: number): Obj => {
  const making = { owner, spec, labels: {}, annotations: {}, version: 999, retryCount: 0, forwarding: false };
  const tasks = tasksOf(spec);
  const task = tasks[1] ?? {};
  const draft = onPod(podDraft({ ...making, isNative: true }, task, index), { owner, tasks }, spec.plugins);
  return { apiVersion: "v1", kind: "Pod", metadata: draft.metadata, spec: draft.spec };
};

/** All objects of a job of this name; the message of its refusal. */
const madeBy = (name: string, more: object): readonly Obj[] | string => {
  const owner = { name, namespace: "team", uid };
  const parsed = parseSpec(name, specOf(more));
  if (!parsed.ok) return parsed.message;
  const claim = claimName(owner, 0);
  const spec = { ...parsed.spec, volumes: [{ mountPath: "/data", volumeClaimName: claim }] };
  const input = { owner, spec, labels: {}, annotations: {}, version: 999, retryCount: 0, forwarding: false };
  const named = [claim, nativeGroupName(owner, 999), workloadName(owner)];
  return [
    ...[0, 1].map((index) => podOf(owner, spec, index)),
    ...objectsOf({ owner, tasks: tasksOf(spec) }, spec.plugins).map(({ object }) => object),
    podGroup(input, new Map()),
    ...named.map((one) => ({ apiVersion: "v1", kind: "Named", metadata: { name: one } })),
  ];
};

const rows: readonly (readonly [what: string, more: object, nameOf: (length: number) => string])[] = [
  ["with plugins", { plugins }, (length) => "n".repeat(length)],
  ["whose name has dots", {}, (length) => (length < 3 ? "n".repeat(length) : `n.${"n".repeat(length - 2)}`)],
  ["with nothing else", {}, (length) => "n".repeat(length)],
];

describe("the objects of a Job", () => {
  for (const [what, more, nameOf] of rows)
    test(`${what}, of any length, have names and labels that the API server takes, or the job is refused`, () => {
      const results = lengths.map((length) => madeBy(nameOf(length), more));
      const refusals = results.filter((result) => typeof result === "string");
      for (const refusal of refusals) assert.match(refusal, /name/);
      assert.deepEqual(
        results.flatMap((result) => (typeof result === "string" ? [] : result)).flatMap(nameErrorsIn),
        [],
      );
      assert.ok(refusals.length <= lengths.length - 55, `${refusals.length} refused`);
    });

  test("of two jobs with long names that begin alike have different names", () => {
    const namesOf = (last: string): readonly string[] => {
      const made = madeBy(`${"n".repeat(57)}${last}`, { plugins });
      return typeof made === "string" ? [made] : made.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    };
    const [a, b] = [namesOf("a"), namesOf("b")];
    assert.ok(a.length >= 8, a.join());
    assert.deepEqual(
      a.filter((name) => b.includes(name)),
      [],
    );
  });
});

describe("the jobs", () => {
  test("of a CronJob have names that can have pods, or the CronJob is refused", () => {
    const latest = Date.UTC(2159, 0, 1);
    const made = lengths.flatMap((length) => {
      const name = "n".repeat(length);
      const stored = {
        ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "CronJob" },
        metadata: { name, namespace: "team", uid, resourceVersion: "1" },
        spec: { schedule: "@daily", jobTemplate: { spec: specOf({}) } },
      };
      const read = readCronSpec(stored);
      if (read.ok) return [cronJobName(name, latest)];
      assert.match(JSON.stringify(read), /name/);
      return [];
    });
    assert.ok(made.length >= 50);
    assert.deepEqual(
      made.filter((name) => name.length > 63),
      [],
    );
  });

  test("of a JobFlow have names that the API server takes, or the flow is refused", () => {
    const made = lengths.flatMap((length) => {
      const [name, flow] = ["n".repeat(length), "f".repeat(63)];
      const metadata = { name, namespace: "t", uid, resourceVersion: "1" };
      const stored = {
        apiVersion: "flow.volcano.sh/v1alpha1",
        kind: "JobFlow",
        metadata,
        spec: { flows: [{ name: flow }] },
      };
      const read = readFlowSpec(stored);
      if (read.ok) return [flowJobName(name, flow)];
      assert.match(read.message, /name/);
      return [];
    });
    assert.deepEqual(made.flatMap(subdomainErrors), []);
  });

  test("of bare pods have groups with names that the API server takes", () => {
    for (const length of lengths) {
      const metadata = { name: "n".repeat(length), namespace: "team", uid, resourceVersion: "1" };
      assert.deepEqual(nameErrorsIn(bareGroup({ apiVersion: "v1", kind: "Pod", metadata, spec: {} })), []);
    }
  });
});
