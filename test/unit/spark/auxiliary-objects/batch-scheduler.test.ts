/** The fields that a batch scheduler reads: amounts, queues and groups, on pods and in PodGroups. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { preDriverObjectsOf, prepared } from "../../../../shared/spark/auxiliary-objects/all.ts";
import { defaultOptions } from "../../../../shared/spark/auxiliary-objects/options.ts";
import type { SparkApplicationSpec } from "../../../../shared/spark/schema/application.ts";
import { parseSpec } from "../../../../shared/spark/schema/rules.ts";
import { statedRequests, statedTotal } from "../../../../shared/spark/submission/planned-pods.ts";
import { spec as base } from "../application/fixtures.ts";
import { plannedOf } from "./planned.ts";

const specOf = (more: object): SparkApplicationSpec => {
  const read = parseSpec({ metadata: { name: "spark-pi", namespace: "default" }, spec: { ...base, ...more } });
  assert.ok(read.ok, read.ok ? "" : read.message);
  return read.spec;
};

const options = { ...defaultOptions, uiService: false, batchScheduler: true, kubeSchedulerNames: ["gangs"] };
const ids = { attempt: 1, submissionId: "submission-1", applicationId: "spark-1", driverPodName: "spark-pi-driver" };
const subjectOf = (more: object) => {
  const subject = { name: "spark-pi", namespace: "default", uid: "app-1", ...ids, options };
  return { ...subject, spec: prepared({ ...subject, spec: specOf(more) }) };
};

describe("the resource amounts for a batch scheduler", () => {
  const python = {
    type: "Python",
    mainApplicationFile: "local:///app.py",
    sparkConf: { "spark.executor.pyspark.memory": "256m" },
  };
  const offHeap = { sparkConf: { "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1073741824" } };
  const cases: readonly { name: string; spec: object; want: readonly [string, string, string, string] }[] = [
    { name: "include memory and the minimum overhead", spec: {}, want: ["1", "896Mi", "1", "896Mi"] },
    {
      name: "include a tenth of large memory as overhead",
      spec: { driver: { cores: 2, memory: "8g" } },
      want: ["2", "9011Mi", "1", "896Mi"],
    },
    {
      name: "include two fifths for Python, and Python's own memory",
      spec: { ...python, executor: { memory: "2g", coreRequest: "500m" } },
      want: ["1", "896Mi", "500m", "3123Mi"],
    },
    {
      name: "include the overhead of the spec",
      spec: { driver: { memory: "1g", memoryOverhead: "100" } },
      want: ["1", "1124Mi", "1", "896Mi"],
    },
    { name: "include off-heap memory", spec: offHeap, want: ["1", "896Mi", "1", "1920Mi"] },
  ];
  for (const { name, spec, want } of cases) {
    test(name, () => {
      const { driver, executor } = plannedOf(subjectOf(spec));
      assert.ok(executor !== undefined);
      const [first, other] = [statedRequests(driver), statedRequests(executor)];
      assert.deepEqual([first["cpu"], first["memory"], other["cpu"], other["memory"]], want);
    });
  }

  const totals: readonly { spec: object; want: object }[] = [
    { spec: {}, want: { cpu: "2", memory: "1792Mi" } },
    {
      spec: { executor: { instances: 3, coreRequest: "500m", memory: "640m" } },
      want: { cpu: "2500m", memory: "3968Mi" },
    },
    {
      spec: { driver: { memory: "640m" }, executor: { instances: 1, memory: "640m" } },
      want: { cpu: "2", memory: "2Gi" },
    },
    {
      spec: { executor: {}, dynamicAllocation: { enabled: true, initialExecutors: 0 } },
      want: { cpu: "1", memory: "896Mi" },
    },
  ];
  for (const { spec, want } of totals) {
    test(`of driver and first executors of ${JSON.stringify(spec)}`, () =>
      assert.deepEqual(statedTotal(plannedOf(subjectOf(spec))), want));
  }
});

describe("a PodGroup", () => {
  const cases: readonly { name: string; spec: object; want: object }[] = [
    {
      name: "of Volcano has the amounts of driver and executors",
      spec: { batchScheduler: "volcano" },
      want: { minMember: 1, minResources: { cpu: "2", memory: "1792Mi" } },
    },
    {
      name: "of Volcano has queue, priority and amounts of its application",
      spec: {
        batchScheduler: "volcano",
        batchSchedulerOptions: { queue: "etl", priorityClassName: "high", resources: { cpu: 4 } },
      },
      want: { minMember: 1, minResources: { cpu: 4 }, queue: "etl", priorityClassName: "high" },
    },
    {
      name: "of the coscheduling plugin",
      spec: { batchScheduler: "gangs" },
      want: { minMember: 1, minResources: { cpu: "2", memory: "1792Mi" } },
    },
  ];
  for (const { name, spec, want } of cases) {
    test(name, () => {
      const subject = subjectOf(spec);
      assert.deepEqual(preDriverObjectsOf(subject, plannedOf(subject))[0]?.object["spec"], want);
    });
  }
});

describe("the fields of pods for a batch scheduler", () => {
  test("include the group as Volcano's annotation", () => {
    const { driver, executor, batchScheduler } = subjectOf({ batchScheduler: "volcano" }).spec;
    const want = { "scheduling.k8s.io/group-name": "spark-spark-pi-pg" };
    assert.deepEqual([driver.annotations, executor.annotations, batchScheduler], [want, want, "volcano"]);
  });

  test("include the group as the coscheduling plugin's label", () => {
    const { driver, executor } = subjectOf({ batchScheduler: "gangs" }).spec;
    const want = { "scheduling.x-k8s.io/pod-group": "spark-pi-pg" };
    assert.deepEqual([driver.labels, executor.labels], [want, want]);
  });

  test("include task groups and queue as YuniKorn's annotations", () => {
    const { driver, executor } = subjectOf({
      batchScheduler: "yunikorn",
      batchSchedulerOptions: { queue: "root.etl" },
      executor: { instances: 2, memory: "512m", tolerations: [{ key: "spot" }], nodeSelector: { disk: "ssd" } },
    }).spec;
    const groups = "yunikorn.apache.org/task-groups";
    const { [groups]: text, ...rest } = driver.annotations ?? {};
    const amounts = { cpu: "1", memory: "896Mi" };
    assert.deepEqual(JSON.parse(text ?? ""), [
      { name: "spark-driver", minMember: 1, minResource: amounts },
      {
        name: "spark-executor",
        minMember: 2,
        minResource: amounts,
        nodeSelector: { disk: "ssd" },
        tolerations: [{ key: "spot" }],
      },
    ]);
    assert.deepEqual(
      [rest, executor.annotations, driver.labels, executor.labels],
      [
        { "yunikorn.apache.org/task-group-name": "spark-driver" },
        { "yunikorn.apache.org/task-group-name": "spark-executor" },
        { queue: "root.etl" },
        { queue: "root.etl" },
      ],
    );
  });

  test("include no executor group if there are no executors at first", () => {
    const { driver } = subjectOf({
      batchScheduler: "yunikorn",
      executor: {},
      dynamicAllocation: { enabled: true, minExecutors: 0 },
    }).spec;
    assert.equal(JSON.parse(driver.annotations?.["yunikorn.apache.org/task-groups"] ?? "").length, 1);
  });
});
