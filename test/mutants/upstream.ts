/**
 * Bugs of the Spark operator and of Spark, by their numbers in the catalogue (recovery.md §4), put into a copy of the sources:
 * the sweep must see each. U15, executors that crash for ever, belongs to who allocates them; see README.md.
 */
import type { Mutant } from "./mutants.ts";

const apply = "shared/engine/apply.ts";
const decide = "shared/spark/application/decide.ts";
const following = "shared/spark/application/following.ts";
const machine = "shared/spark/application/machine.ts";

export const upstreamMutants: readonly Mutant[] = [
  {
    name: "U2-status-believed",
    promise: "the record wins over the status: a conflict at the status does not submit again (U2)",
    file: decide,
    find: "view.memory ?? adopted(",
    replace: 'view.memory?.state.phase === "" ? view.memory : adopted(',
    scenarios: ["completion"],
    fault: "crash-.*|409",
  },
  {
    name: "U7-pod-events-dropped",
    promise: "what happens to pods is heard (U7: kubeflow#2749)",
    file: "shared/spark/application/operator.ts",
    find: "return !same(gist(before), gist(after));",
    replace: "return false && !same(gist(before), gist(after));",
    scenarios: ["completion"],
    fault: "crash-.*",
  },
  {
    name: "U8-executors-forgotten",
    promise: "whose executors are is known also when their driver has gone (U8)",
    file: "shared/spark/application/clearing.ts",
    find: "planOf(scene, knowing(memory, found), found,",
    replace: "planOf(scene, knowing(memory, { ...found, driver: undefined }), found,",
    scenarios: ["U8-slow-to-end"],
    fault: "crash-.*",
  },
  {
    name: "U10-mended-in-vain",
    promise: "a mended spec is tried, also after a failure (U10: kubeflow#3174)",
    file: decide,
    find: "if (unchanged || nothingRuns) return taken;",
    replace: 'if (unchanged || nothingRuns || memory.state.phase === "FAILED") return taken;',
    scenarios: ["refusal"],
    fault: "crash-.*",
  },
  {
    name: "U14-conflicts-are-errors",
    promise: "a conflict is nobody's error (U14: kubeflow#3184)",
    file: "shared/engine/return.ts",
    find: 'tries < 2 && since.lastedMs === 0 ? "debug" : "warn"',
    replace: 'tries < 2 && since.lastedMs === 0 ? "error" : "warn"',
    scenarios: ["U14-conflicts"],
    fault: "crash-.*",
  },
  {
    name: "upgrade-invalidates",
    promise: "a record by another normaliser is taken in as it is: upgrading restarts nobody",
    file: decide,
    find: "memory.normaliser !== normaliser || memory.spec === spec;",
    replace: "memory.spec === spec;",
    scenarios: ["upgrade"],
    fault: "crash-.*",
  },
  {
    name: "U1-own-work-not-recognised",
    promise: "what was created before and not recorded is adopted (U1: kubeflow#2788)",
    file: apply,
    find: "=== wanted) return done;",
    replace: '=== wanted) return refused(effect, { status: 409, reason: "AlreadyExists", message: "exists" });',
    scenarios: ["completion"],
    fault: "crash-.*|timeout-applied",
  },
  {
    name: "U11-loss-believed-at-once",
    promise: "a driver missing from a list is asked for by name before it counts as lost (U11: kubeflow#446)",
    file: following,
    find: 'if (answer === undefined) return { see: "later", look: [query] };',
    replace: 'if (answer === undefined) return { see: "lost", pod: undefined };',
    scenarios: ["completion"],
    fault: "stale",
  },
  {
    name: "U12-forgotten-early",
    promise:
      "the memory of an application is kept until nothing of it can arrive any more: a driver created after the deletion is ended, too (U12: kubeflow#2961, #2803)",
    file: "shared/spark/application/clearing.ts",
    find: "if (view.now < settled)",
    replace: "if (view.now < 0 * settled)",
    scenarios: ["deletion"],
    fault: "pause-5s|slow|late.*",
  },
  {
    name: "U3-submitted-twice",
    promise: "called twice at its start, an application is submitted once (U3: kubeflow#2573)",
    file: "shared/engine/save.ts",
    find: 'if (version === "raced") return "raced";',
    replace: 'if (version === "raced") return held;',
    scenarios: ["U3-called-thrice", "retry"],
    fault: "pair|pause-.*|frozen",
  },
  {
    name: "U4-names-drawn",
    promise: "an attempt's driver has one name, so that a second one cannot come (U4: kubeflow#155)",
    file: apply,
    find: "await hands.cluster.create(refOf(effect), object);\n    return done;",
    replace:
      "const { metadata } = object;\n    const name = metadata.name + (object.kind === 'Pod' ? String(hands.now) : '');\n    await hands.cluster.create({ ...refOf(effect), name }, { ...object, metadata: { ...metadata, name } });\n    return done;",
    scenarios: ["completion"],
    fault: "crash-.*",
  },
  {
    name: "U5-submitter-lost",
    promise: "whose submission nobody saw come to its end is not taken for failed (U5: stackable#646)",
    file: machine,
    find: 'absent: "resume",',
    replace: 'absent: "FAILING",',
    scenarios: ["completion", "retry"],
    fault: "crash-.*|pause-.*",
  },
  {
    name: "U6-ended-runs-again",
    promise: "what has completed does not run again after a restart (U6: stackable#457, kubeflow#1709)",
    file: machine,
    find: 'COMPLETED: "rest",',
    replace: 'COMPLETED: "submit",',
    scenarios: ["U6-restarted"],
    fault: "crash-.*",
  },
  {
    name: "U9-waits-for-ever",
    promise: "a driver that does not start in the time given is given up (U9: kubeflow#2872)",
    file: "shared/spark/application/failing.ts",
    find: "if (driverStartMs === undefined) return undefined;",
    replace: "if (driverStartMs === undefined || driverStartMs > 0) return undefined;",
    scenarios: ["lateness"],
    fault: "crash-.*",
  },
  {
    name: "U13-status-of-another-run",
    promise: "the status of a run shows nothing of the one before (U13: kubeflow#2767)",
    file: "shared/spark/application/status.ts",
    find: "...(hasEnded(memory) ? { terminationTime: timeText(memory.state.endedAt) } : {}),",
    replace:
      '...(hasEnded(memory) ? { terminationTime: timeText(memory.state.endedAt) } : { terminationTime: Object(object["status"])["terminationTime"] }),',
    scenarios: ["U13-second-attempt"],
    fault: "crash-.*",
  },
  {
    name: "U16-not-replaced",
    promise: "an executor that has ended does not count, and another comes (U16: kubeflow#204, SPARK-24751)",
    file: "shared/spark/executors/allocate.ts",
    find: "expected - members.filter(isLiving).length -",
    replace: "expected - members.length -",
    scenarios: ["own-loss"],
    fault: "crash-.*",
  },
  {
    name: "U17-nothing-after-a-gap",
    promise: "what changed while the watch was broken is found when it begins again (U17: SPARK-33349, kubeflow#188)",
    file: "shared/forward/known.ts",
    find: "places.add(placeOf(object));\n        return seen(object);",
    replace: "places.add(placeOf(object));\n        seen(object);\n        return [];",
    scenarios: ["U17-watch-gone", "U7-unheard"],
    fault: "gap|crash-.*",
  },
];
