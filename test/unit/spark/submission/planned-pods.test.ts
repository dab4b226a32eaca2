/**
 * One plan of a run's first pods decides every amount that is asked for before they exist: the quota at admission, the
 * PodGroups of batch schedulers, YuniKorn's task groups, the members of a gang, and what the record says of the run.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { wholeOf } from "../../../../shared/core/plan.ts";
import { membersOf } from "../../../../shared/kube/gang-members.ts";
import { requestsOf as requestsOfPod } from "../../../../shared/kube/pod-usage.ts";
import { amountOf } from "../../../../shared/kube/quantity.ts";
import { amountsOf } from "../../../../shared/spark/admission/review.ts";
import { application, spec as base, decided } from "../application/fixtures.ts";

type Texts = Readonly<Record<string, string>>;

/** Cores and MiB of the driver and of each executor, and the number of executors. */
type Amounts = readonly [driver: readonly [number, number], executor: readonly [number, number], executors: number];

type Row = { readonly name: string; readonly spec: object; readonly annotations?: Texts; readonly want: Amounts };

const mebi = 2 ** 20;
const python = { type: "Python", mainApplicationFile: "local:///app.py" };
const own = { "rekindle.dev/executors": "own" };
const dynamic = (more: Texts): Texts => ({ "spark.dynamicAllocation.enabled": "true", ...more });

const rows: readonly Row[] = [
  { name: "fields", spec: {}, want: [[1, 896], [1, 896], 1] },
  {
    name: "sizes and numbers that only confs state",
    spec: {
      ...{ driver: {}, executor: {} },
      sparkConf: {
        ...{ "spark.driver.memory": "2g", "spark.driver.cores": "2" },
        ...{ "spark.executor.memory": "4g", "spark.executor.cores": "4", "spark.executor.instances": "10" },
      },
    },
    want: [[2, 2432], [4, 4505], 10],
  },
  {
    name: "core requests of confs and of fields",
    spec: {
      driver: { cores: 4, memory: "512m" },
      executor: { cores: 4, coreRequest: "100m", memory: "512m", instances: 3 },
      sparkConf: { "spark.kubernetes.driver.request.cores": "250m" },
    },
    want: [[0.25, 896], [0.1, 896], 3],
  },
  {
    name: "overheads: a conf of executors, a factor of the field",
    spec: {
      memoryOverheadFactor: "0.5",
      ...{ driver: { memory: "4g" }, executor: { memory: "2g", instances: 2 } },
      sparkConf: { "spark.executor.memoryOverhead": "100m" },
    },
    want: [[1, 6144], [1, 2148], 2],
  },
  {
    name: "Python's memory, and memory off the heap",
    spec: {
      ...python,
      sparkConf: {
        "spark.executor.pyspark.memory": "256m",
        ...{ "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g" },
      },
    },
    want: [[1, 896], [1, 2176], 1],
  },
  {
    name: "dynamic allocation by the field",
    spec: { dynamicAllocation: { enabled: true, minExecutors: 4, initialExecutors: 6, maxExecutors: 9 } },
    want: [[1, 896], [1, 896], 6],
  },
  {
    name: "dynamic allocation by confs",
    spec: { sparkConf: dynamic({ "spark.dynamicAllocation.minExecutors": "20" }) },
    want: [[1, 896], [1, 896], 20],
  },
  {
    name: "dynamic allocation by confs, with Rekindle as the allocator",
    spec: { sparkConf: dynamic({ "spark.dynamicAllocation.minExecutors": "20" }) },
    annotations: own,
    want: [[1, 896], [1, 896], 20],
  },
  {
    name: "bounds of a dynamic allocation that is off",
    spec: { dynamicAllocation: { enabled: false, minExecutors: 20 } },
    want: [[1, 896], [1, 896], 1],
  },
  {
    name: "no executors at first",
    spec: { executor: { memory: "512m" }, dynamicAllocation: { enabled: true, minExecutors: 0 } },
    want: [[1, 896], [1, 896], 0],
  },
  {
    name: "containers beside Spark's, whose limit is their request",
    spec: {
      driver: { memory: "512m", sidecars: [{ name: "a", image: "a", resources: { limits: { cpu: "500m" } } }] },
      executor: {
        ...{ memory: "512m", instances: 2 },
        sidecars: [{ name: "a", image: "a", resources: { requests: { cpu: "200m", memory: "64Mi" } } }],
      },
    },
    want: [[1.5, 896], [1.2, 960], 2],
  },
  {
    name: "a user's pod template",
    spec: {
      executor: {
        ...{ memory: "512m", instances: 2 },
        template: {
          spec: {
            containers: [
              { name: "a", resources: { requests: { cpu: "1" } } },
              { name: "b", resources: { requests: { cpu: "2" } } },
            ],
          },
        },
      },
    },
    want: [[1, 896], [3, 896], 2],
  },
];

const objectOf = ({ spec, annotations = {} }: Row, more: object = {}, marks: Texts = {}): Stored =>
  application({ spec: { ...base, ...spec, ...more }, metadata: { annotations: { ...annotations, ...marks } } });

const options = { batchScheduler: true, kubeSchedulerNames: ["gangs"] };

/** The first step of an application: its memory, and the objects that it creates. */
const begun = (object: Stored, gang = false) => {
  const { plan, before } = decided({ object, options, gang });
  const made = [...before, ...plan.stages.flat()].flatMap((effect) =>
    effect.do === "create" ? [wholeOf(effect)] : [],
  );
  const ofKind = (kind: string) => made.find((one) => one.kind === kind);
  return { needs: plan.memory.driver?.needs, group: ofKind("PodGroup"), pod: ofKind("Pod") };
};

const numbers = (texts: unknown): readonly [number, number] => {
  const { cpu, memory } = fieldsOf(texts);
  return [amountOf(`${cpu}`) ?? 0, (amountOf(`${memory}`) ?? 0) / mebi];
};

const podNumbers = (spec: unknown): readonly [number, number] => {
  const amounts = requestsOfPod(fieldsOf(spec));
  const nano = (name: string): number => Number(amounts.get(name)?.nano ?? 0n) / 1e9;
  return [nano("cpu"), nano("memory") / mebi];
};

/** Amounts in whole thousandths: sums of floating-point numbers differ in their last digits. */
const rounded = (amounts: readonly number[]): readonly number[] => amounts.map((one) => Math.round(one * 1_000));

const total = ([driver, executor, count]: Amounts): readonly number[] =>
  rounded([driver[0] + count * executor[0], driver[1] + count * executor[1]]);

for (const row of rows) {
  describe(`an application with ${row.name}`, () => {
    const [driver, executor, count] = row.want;

    test("is counted so against a quota", () => {
      const object = objectOf(row);
      const named = { name: "spark-pi", namespace: "default" };
      const found = amountsOf(object, { metadata: { ...object.metadata }, spec: object.spec }, named, { confs: {} });
      const { pods, "requests.cpu": cpu = 0, "requests.memory": memory = 0 } = found;
      assert.deepEqual([pods, ...rounded([cpu, memory / mebi])], [1 + count, ...total(row.want)]);
    });

    test("has these amounts in its record, and its driver's pod requests them", () => {
      const { needs, pod } = begun(objectOf(row));
      assert.deepEqual(needs, [driver[0] * 1_000, driver[1], executor[0] * 1_000, executor[1]]);
      assert.deepEqual(rounded(podNumbers(pod?.spec)), rounded(driver));
    });

    for (const batchScheduler of ["volcano", "gangs"]) {
      test(`has a PodGroup of ${batchScheduler} with their sum`, () => {
        const { group } = begun(objectOf(row, { batchScheduler }));
        assert.deepEqual(rounded(numbers(fieldsOf(group?.spec)["minResources"])), total(row.want));
      });
    }

    test("has task groups of YuniKorn with them", () => {
      const { pod } = begun(objectOf(row, { batchScheduler: "yunikorn" }));
      const groups = recordsIn(JSON.parse(pod?.metadata.annotations?.["yunikorn.apache.org/task-groups"] ?? "[]"));
      const found = groups.map(({ minMember, minResource }) => [minMember, ...rounded(numbers(minResource))]);
      const others = count === 0 ? [] : [[count, ...rounded(executor)]];
      assert.deepEqual(found, [[1, ...rounded(driver)], ...others]);
    });

    test("starts as a gang of such members", () => {
      const { group } = begun(objectOf(row, {}, { "rekindle.dev/gang": "true" }), true);
      assert.ok(group !== undefined);
      const { members = [] } =
        membersOf({ ...group, metadata: { ...group.metadata, uid: "", resourceVersion: "" } }) ?? {};
      const found = members.map(({ count: of, spec }) => [of, ...rounded(podNumbers(spec))]);
      const others = count === 0 ? [] : [[count, ...rounded(executor)]];
      assert.deepEqual(found, [[1, ...rounded(driver)], ...others]);
      assert.deepEqual(rounded(numbers(fieldsOf(group.spec)["minResources"])), total(row.want));
    });
  });
}
