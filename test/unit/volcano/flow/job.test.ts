/** Patches over templates, field by field. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { patched } from "../../../../shared/volcano/flow/job.ts";

const main = { name: "main", image: "busybox:1", env: [{ name: "A", value: "1" }], command: ["sleep", "1"] };
const task = (more: object, container: object = main) => ({
  name: "w",
  replicas: 2,
  template: { spec: { restartPolicy: "Never", containers: [container] } },
  ...more,
});
const base = {
  queue: "gpu",
  maxRetry: 5,
  minAvailable: 2,
  plugins: { svc: [], ssh: ["--ssh-port=22"] },
  policies: [{ event: "PodFailed", action: "RestartJob" }],
  volumes: [{ mountPath: "/a", volumeClaimName: "one" }],
  tasks: [task({})],
};

const container = (change: object) => ({
  tasks: [{ name: "w", template: { spec: { containers: [{ name: "main", ...change }] } } }],
});

const rows: readonly (readonly [what: string, patch: object, expected: object])[] = [
  [
    "defaults of the API server in the patch change nothing",
    { queue: "default", maxRetry: 3, minAvailable: 1 },
    { minAvailable: 1 },
  ],
  ["a queue is replaced", { queue: "cpu" }, { queue: "cpu" }],
  ["policies are replaced", { policies: [] }, { policies: [] }],
  [
    "plugins get further arguments, and further plugins are added",
    { plugins: { ssh: ["--ssh-port=23"], env: [] } },
    { plugins: { svc: [], ssh: ["--ssh-port=22", "--ssh-port=23"], env: [] } },
  ],
  [
    "volumes are replaced by their mount paths",
    { volumes: [{ mountPath: "/a", volumeClaim: {} }, { mountPath: "/b" }] },
    { volumes: [{ mountPath: "/a", volumeClaim: {} }, { mountPath: "/b" }] },
  ],
  [
    "a task of the same name keeps the fields that the patch omits",
    { tasks: [{ name: "w", replicas: 4 }] },
    { tasks: [task({ replicas: 4 })] },
  ],
  ["another task is added", { tasks: [{ name: "ps" }] }, { tasks: [task({}), { name: "ps" }] }],
  [
    "a container gets another image",
    container({ image: "busybox:2" }),
    { tasks: [task({}, { ...main, image: "busybox:2" })] },
  ],
  ["a command is replaced", container({ command: ["true"] }), { tasks: [task({}, { ...main, command: ["true"] })] }],
  [
    "variables are replaced and added by their names",
    container({
      env: [
        { name: "A", valueFrom: {} },
        { name: "B", value: "2" },
      ],
    }),
    {
      tasks: [
        task(
          {},
          {
            ...main,
            env: [
              { name: "A", valueFrom: {} },
              { name: "B", value: "2" },
            ],
          },
        ),
      ],
    },
  ],
  ["null removes a field", { minAvailable: null }, { minAvailable: undefined }],
];

describe("a patch of a JobTemplate", () => {
  for (const [what, patch, expected] of rows)
    test(what, () => {
      const whole = Object.entries({ ...base, ...expected }).filter(([, value]) => value !== undefined);
      assert.deepEqual(patched(base, { ...patch }), Object.fromEntries(whole));
    });

  test("that is absent leaves the template as it is", () => {
    assert.equal(patched(base, undefined), base);
  });
});
