/** Mutants of what users write and what they are shown of it: the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const yaml = { file: "shared/adapters/kubernetes/yaml.ts", tests: ["test/unit/adapters/kubernetes/yaml.test.ts"] };

const states = {
  file: "shared/spark/application/state/status.ts",
  tests: ["test/unit/spark/application/state/executor-states.test.ts"],
};

const planned = {
  file: "shared/spark/submission/planned-pods.ts",
  tests: ["test/unit/spark/submission/planned-pods.test.ts"],
};

export const readingMutants: readonly Mutant[] = [
  {
    ...yaml,
    name: "octal-modes-as-decimals",
    promise: "manifests are read as kubectl reads them: 0400 is 256",
    find: '"0x": 16, "0": 8 }',
    replace: '"0x": 16 }',
  },
  {
    ...yaml,
    name: "merges-as-keys",
    promise: "manifests are read as kubectl reads them: << merges maps",
    find: 'key.value === "<<"',
    replace: 'key.value === "<<<"',
  },
  {
    ...yaml,
    name: "aliases-unbounded",
    promise: "a manifest's aliases stand for a bounded number of values",
    find: "count(reading, target.size);",
    replace: "count(reading, 1);",
  },
  {
    name: "render-with-unknown-fields",
    promise: "render refuses unknown fields as create does",
    file: "shared/kube/unknown-fields.ts",
    find: "return field === undefined ?",
    replace: "return field === null ?",
    tests: ["test/unit/cli/render.test.ts"],
  },
  {
    ...states,
    name: "living-executors-leave-the-status",
    promise: "the status names every living executor, so gauges, events and the page count all of them",
    find: "(isFinished(state) || !present.has(name))",
    replace: "name !== ''",
  },
  {
    ...states,
    name: "ends-leave-unshown",
    promise: "an executor leaves the status only after it showed its end, from which counters and events follow",
    find: "before[name] === state && ",
    replace: "",
  },
  {
    ...states,
    name: "ended-executors-come-back",
    promise: "the end of an executor is counted once, however long its pod is kept",
    find: "|| !endShown(id))",
    replace: "|| id > 0)",
  },
  {
    ...planned,
    name: "quota-without-dynamic-allocation",
    promise: "quotas and groups count the initial executors of dynamic allocation",
    file: "shared/spark/executors/owner.ts",
    find: "return scale === undefined ? wantedOf(spec) : targetOf(scale, demand);",
    replace: "return scale === undefined || demand === undefined ? wantedOf(spec) : targetOf(scale, demand);",
  },
  {
    ...planned,
    name: "quota-of-one-executor",
    promise: "quotas and groups count every executor with which a run begins",
    find: "multiply(amountsOf(executor), executors)",
    replace: "multiply(amountsOf(executor), 1)",
  },
  {
    ...planned,
    name: "task-groups-by-fields",
    promise: "YuniKorn's task groups state the requests of the planned pods, as quotas and PodGroups do",
    file: "shared/spark/auxiliary-objects/batch-scheduler.ts",
    find: "const minResource = statedRequests(executor);",
    replace: "const minResource = statedRequests(driver);",
  },
  {
    name: "confs-replaced-in-silence",
    promise: "a conf that the submission replaces is told",
    file: "shared/spark/ignored/confs.ts",
    find: "if (honoured?.has(key) === true || ",
    replace: "if (key !== '' || ",
    tests: ["test/unit/spark/ignored/confs.test.ts"],
  },
  {
    name: "refused-run-unsaid",
    promise: "the status of a schedule says that the platform refuses its next run, and why",
    file: "shared/spark/scheduled/decide.ts",
    find: "reason: `held up by the platform: ",
    replace: "why: `",
    tests: ["test/unit/host/denied-spark.test.ts"],
  },
  {
    name: "refused-server-unsaid",
    promise: "the condition of a SparkConnect says that the platform refuses its server, and why",
    file: "shared/spark/connect/memory.ts",
    find: "message: `held up by the platform: ",
    replace: "why: `",
    tests: ["test/unit/host/denied-spark.test.ts"],
  },
  {
    name: "upstreams-estimate-unset",
    promise:
      "admission's quota counts upstream's estimate where the deployment asks for it, and planned pods elsewhere",
    file: "shared/spark/admission/review.ts",
    find: "if (estimate === true) {",
    replace: "if (estimate === undefined) {",
    tests: ["test/unit/spark/admission/quota.test.ts"],
  },
  {
    name: "template-fields-overwritten-in-silence",
    promise: "a field of a pod template that the pod does not have is told",
    file: "shared/spark/ignored/fields.ts",
    find: "return isAlike(wanted, made) ? [] : ",
    replace: "return isAlike(wanted, made) || path !== '' ? [] : ",
    tests: ["test/unit/deployments/cli/ignored.test.ts"],
  },
  {
    name: "connect-confs-replaced-in-silence",
    promise: "a conf of a SparkConnect that its server does not get is told",
    file: "shared/spark/connect/ignored.ts",
    find: "...replacedConfs({ confs, final, originOf }),",
    replace: "",
    tests: ["test/unit/deployments/cli/ignored.test.ts"],
  },
  {
    name: "derived-names-unbounded",
    promise: "a name that derives from another one is bounded: services, volumes, labels",
    file: "shared/kube/names.ts",
    find: "if (whole.length <= longestLabel && ",
    replace: "if (whole.length <= 253 && ",
    tests: ["test/unit/deployments/cli/derived-names.test.ts", "test/unit/volcano/derived-names.test.ts"],
  },
  {
    name: "advice-beside-the-record",
    promise: "wait and advice of status come from one source: a host that waits has looked at the object",
    file: "shared/cli/inspection/status.ts",
    find: "(isSeen ? quiet : state.what.todo)",
    replace: "state.what.todo",
    tests: ["test/unit/cli/inspection/status.test.ts"],
  },
  {
    name: "earlier-driver-unnamed",
    promise: "the wait for an earlier application names its driver pod first",
    file: "shared/spark/application/driver/cleanup.ts",
    find: "Number(isDriver(b)) - Number(isDriver(a))",
    replace: "Number(isDriver(a)) - Number(isDriver(b))",
    tests: ["test/unit/spark/application/driver/earlier-pods.test.ts"],
  },
  {
    name: "repeated-ports-in-silence",
    promise: "a port with the name of one of Spark's is told before the API server refuses the driver pod",
    file: "shared/spark/submission/driver-oddities.ts",
    find: "names.indexOf(name) !== at",
    replace: "names.indexOf(name) > at",
    tests: ["test/unit/spark/submission/driver-oddities.test.ts"],
  },
];
