/** Mutants of groups that PodGroups of Kubernetes place. */
import type { Mutant } from "./mutants.ts";

const host = "test/unit/host/gang-native.test.ts";
const probe = "test/unit/volcano/gang/native-probe.test.ts";

export const nativeMutants: readonly Mutant[] = [
  {
    name: "probe-given-up-after-a-death",
    promise:
      "objects of a probe that a step could not create because it died are created by a later step, however late",
    file: "shared/volcano/gang/native-probe.ts",
    find: "    if (native.retried !== true) return made(step, step.owner, now);\n",
    replace: "",
    tests: ["test/unit/volcano/gang/native-probe.test.ts"],
  },
  {
    name: "finished-pods-still-counted",
    promise: "the number of a PodGroup of Kubernetes falls when pods have finished, so that a replacement is placed",
    file: "shared/volcano/job/native-gang.ts",
    find: "replicasOf(task) - finishedOf(context, task)",
    replace: "replicasOf(task) - 0 * finishedOf(context, task)",
    scenarios: ["native-replaced"],
    fault: "crash-after",
  },
  {
    name: "pods-before-their-gang",
    promise: "the PodGroup of Kubernetes exists before its pods",
    file: "shared/volcano/job/plan.ts",
    find: "    native,\n    ...inOrder(next, { ends, kept: kept.effects, group }),\n    ...creates,",
    replace: "    ...inOrder(next, { ends, kept: kept.effects, group }),\n    ...creates,\n    native,",
    scenarios: ["native-race"],
    fault: "crash-after",
  },
  {
    name: "gangs-without-a-probe",
    promise: "PodGroups of Kubernetes are used only where the probe has found that the cluster places gangs",
    file: "shared/volcano/gang/admission-round.ts",
    find: 'native: probe.verdict === "on" }',
    replace: 'native: probe.verdict !== "open" }',
    tests: [host],
  },
  {
    name: "probe-goes-on-with-half",
    promise: "a step creates again what a step before it did not come to",
    file: "shared/volcano/gang/native-probe.ts",
    find: "...(found.pod === undefined ? [pod] : [])",
    replace: "...(found.pod === undefined ? [] : [pod])",
    tests: [probe],
  },
  {
    name: "single-pod-unseen",
    promise: "a scheduler that tries one pod of a group of two knows no gangs",
    file: "shared/volcano/gang/native-probe.ts",
    find: "if (wasTried(pod)) return off(",
    replace: "if (wasTried(pod) && now < 0) return off(",
    tests: [probe],
  },
  {
    name: "larger-pods-last",
    promise: "larger pods of a gang are created first",
    file: "shared/volcano/native/size.ts",
    find: "> (other[at] ?? 0n) ? -1 : 1;",
    replace: "> (other[at] ?? 0n) ? 1 : -1;",
    tests: ["test/unit/volcano/native/expressible.test.ts"],
  },
  {
    name: "switched-off-gangs-still-used",
    promise: "groups get plans as soon as the API server no longer serves PodGroups of Kubernetes",
    file: "shared/volcano/gang/native-probe.ts",
    find: "const gone = waits.length === 0 ? undefined : yield* unserved(now);",
    replace: "const gone = undefined;",
    tests: [probe, host],
  },
  {
    name: "pods-one-by-one-unasked",
    promise: "no pods are created without the PodGroup of Kubernetes that their group was admitted for",
    file: "shared/volcano/job/native-gang.ts",
    find: "return creates ? unserved(context) : [];",
    replace: "return [];",
    tests: [host],
  },
  {
    name: "native-applications-without-a-reason",
    promise: "with PodGroups of Kubernetes in use, the group of a Spark application says why it has a plan",
    file: "shared/volcano/gang/native-way.ts",
    find: 'return { is: "planned", why: "some of its members are created later" };',
    replace: 'return { is: "planned" };',
    tests: ["test/unit/host/gang-spark.test.ts"],
  },
];
