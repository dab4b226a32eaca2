/** Mutants of recordings of decisions, and of the purity of decisions that a replay rests on. */
import type { Mutant } from "./mutants.ts";

export const recordingMutants: readonly Mutant[] = [
  {
    name: "recordings-unbounded",
    promise: "the recordings of one namespace take a bounded part of the log",
    file: "shared/deployments/common/recording-lines.ts",
    find: " || own > mostPerMinute.namespace",
    replace: "",
    tests: ["test/unit/deployments/common/decision-log.test.ts"],
  },
  {
    name: "recordings-unmasked",
    promise: "no value that looks like a secret is in a recording",
    file: "shared/deployments/common/recording-lines.ts",
    find: "JSON.stringify(maskSecrets(line))",
    replace: "JSON.stringify(line)",
    tests: ["test/unit/host/recording.test.ts"],
  },
  {
    name: "decision-reads-a-clock",
    promise: "a decision reads no clock: its recording decides the same at any later time",
    file: "shared/engine/reconcile/step.ts",
    find: "const view = { object, uid, memory, now,",
    replace: "const view = { object, uid, memory, get now() { return performance.now() + now; },",
    tests: ["test/unit/host/recording.test.ts"],
  },
  {
    name: "conflict-waits-for-the-next-step",
    promise: "a step whose patch meets a Conflict decides again at once: others may wait for what it was to write",
    file: "shared/engine/reconcile/step.ts",
    find: 'reason === "Conflict" && again !== true',
    replace: 'reason === "Conflict" && again === true',
    tests: ["test/unit/engine/reconcile/step.test.ts"],
  },
];
