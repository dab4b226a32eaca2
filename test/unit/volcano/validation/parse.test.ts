/** Parsing of jobs: accepted specs, defaults, and messages for invalid ones. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseSpec, specIn } from "../../../../shared/volcano/validation/parse.ts";

const container = { name: "main", image: "busybox" };
const template = { spec: { restartPolicy: "Never", containers: [container] } };
const task = { name: "work", replicas: 2, template };

const sayingOf = (spec: unknown, name = "train"): string => {
  const read = parseSpec(name, spec);
  return read.ok ? "" : read.message;
};

describe("the parser of a Volcano job", () => {
  test("sets the defaults of upstream's webhook", () => {
    const read = parseSpec("train", {
      tasks: [
        { replicas: 2, template },
        { ...task, minAvailable: 1 },
      ],
    });
    assert.ok(read.ok);
    const { queue, schedulerName, maxRetry, minAvailable, tasks = [] } = read.spec;
    assert.deepEqual(
      { queue, schedulerName, maxRetry, minAvailable },
      { queue: "default", schedulerName: "volcano", maxRetry: 3, minAvailable: 3 },
    );
    assert.deepEqual(
      tasks.map(({ name, minAvailable: least, maxRetry: retries }) => [name, least, retries]),
      [
        ["default0", 2, 3],
        ["work", 1, 3],
      ],
    );
  });

  test("parses a stored spec once for each name of a job", () => {
    const spec = { tasks: [task] };
    const of = (name: string, stored: unknown) =>
      specIn({ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name }, spec: stored });
    assert.equal(of("train", spec), of("train", spec));
    assert.notEqual(of("train", spec), of("train", { ...spec }));
    assert.deepEqual([of("train", spec).ok, of("t".repeat(60), spec).ok], [true, false]);
  });

  test("reads null as absent", () => {
    assert.equal(sayingOf({ tasks: [{ ...task, policies: null, dependsOn: null }], volumes: null, plugins: null }), "");
  });

  test("accepts a claim with the name that a controller gave it", () => {
    const volume = { mountPath: "/data", volumeClaim: {}, volumeClaimName: "train-pvc-0123456789ab" };
    assert.equal(sayingOf({ tasks: [task], volumes: [volume] }), "");
  });

  const refused: readonly (readonly [what: string, spec: unknown, says: RegExp, name?: string])[] = [
    ["negative replicas", { tasks: [{ ...task, replicas: -1 }] }, /spec\.tasks\[0\]\.replicas must be at least 0/],
    ["a negative time to live", { tasks: [task], ttlSecondsAfterFinished: -1 }, /spec\.ttlSecondsAfterFinished/],
    ["more than 20,000 pods", { tasks: [{ ...task, replicas: 2e9 }] }, /at most 20000/],
    ["numbers beyond 32 bits", { tasks: [{ ...task, replicas: 1e12 }] }, /spec\.tasks\[0\]\.replicas/],
    ["texts for numbers", { tasks: [{ ...task, replicas: "2" }] }, /spec\.tasks\[0\]\.replicas must be a number/],
    ["duplicate task names", { tasks: [task, task] }, /duplicated task name work/],
    [
      "tasks that depend on each other",
      {
        tasks: [
          { ...task, dependsOn: { name: ["b"] } },
          { ...task, name: "b", dependsOn: { name: ["work"] } },
        ],
      },
      /directed acyclic graph/,
    ],
    ["an unknown plugin", { tasks: [task], plugins: { magic: [] } }, /unable to find job plugin: magic/],
    [
      "two policies for one event",
      {
        tasks: [task],
        policies: [
          { event: "PodFailed", action: "AbortJob" },
          { event: "PodFailed", action: "RestartJob" },
        ],
      },
      /duplicate event PodFailed/,
    ],
    [
      "a timeout that is no duration",
      { tasks: [task], policies: [{ event: "PodEvicted", action: "RestartJob", timeout: "soon" }] },
      /spec\.policies\[0\]\.timeout must be a duration/,
    ],
    [
      "a name that leads to too long pod names",
      { tasks: [task] },
      /must be no more than 63 characters/,
      "n".repeat(60),
    ],
    [
      "host names that are too long",
      { tasks: [{ ...task, replicas: 1001 }], plugins: { svc: [] } },
      /makes pods of more than 63 characters/,
      "n".repeat(55),
    ],
    ["a pod without containers", { tasks: [{ ...task, template: {} }] }, /template\.spec\.containers: Required value/],
    [
      "a mount without its volume",
      {
        tasks: [
          {
            ...task,
            template: { spec: { containers: [{ ...container, volumeMounts: [{ name: "x", mountPath: "/x" }] }] } },
          },
        ],
      },
      /volumeMounts\[0\]\.name: Not found: "x"/,
    ],
    [
      "NUMA placement without whole CPUs",
      { tasks: [{ ...task, topologyPolicy: "restricted" }] },
      /isn't Guaranteed pod/,
    ],
    ["a volume without a path", { tasks: [task], volumes: [{}] }, /mountPath is required/],
    ["mpi without its master", { tasks: [task], plugins: { mpi: [] } }, /mpi master task was not found/],
  ];
  for (const [what, spec, says, name] of refused) {
    test(`refuses ${what}`, () => assert.match(sayingOf(spec, name), says));
  }
});
