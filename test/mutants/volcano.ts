/**
 * Bugs of Volcano's controller, by their numbers in the catalogue (recovery.md §4), put into a copy of the sources: the
 * sweep of the Volcano family must see each.
 */
import type { Swept } from "./mutants.ts";

const job = "shared/volcano/job";

export const volcanoMutants: readonly Swept[] = [
  {
    name: "U18-list-believed",
    promise: "a pod missing from a list is asked for by name before it counts as evicted (U18: SPARK-36334)",
    file: `${job}/decide.ts`,
    find: 'if (witness === undefined) return "yes";',
    replace: 'if (witness?.uid === undefined) return "yes";',
    scenarios: ["U18-older-list"],
    fault: "stale",
  },
  {
    name: "U19-earlier-lives-on",
    promise: "pods of an earlier version are ended (U19: SPARK-37856)",
    file: `${job}/crew.ts`,
    find: "return member.version < memory.version || endsUnfinished(memory);",
    replace: "return endsUnfinished(memory);",
    scenarios: ["U19-slow-to-end"],
    fault: "crash-.*",
  },
  {
    name: "U20-failure-missed",
    promise: "a failure that nobody saw happen is an event when somebody looks (U20: volcano#3967)",
    file: `${job}/happenings.ts`,
    find: '.filter((member) => member.phase === "Failed" && !member.ending && !known.has(member.index))',
    replace:
      '.filter((member) => member.phase === "Failed" && !member.ending && !known.has(member.index) && scene.view.now - (instantOf(finishedAtOf(member)) ?? 0) < 5_000)',
    scenarios: ["U20-failed-unheard"],
    fault: "crash-.*",
  },
  {
    name: "U21-never-forgotten",
    promise: "a job that is gone is done with (U21: volcano#3357)",
    file: `${job}/decide.ts`,
    find: "forget: true",
    replace: "again: true",
    scenarios: ["U21-deleted-at-birth"],
    fault: "crash-.*",
  },
  {
    name: "U22-pods-by-name",
    promise: "whose a pod is says its owner's UID, not its name (U22: volcano#5986)",
    file: `${job}/crew.ts`,
    find: ".filter((pod) => ownedBy(pod, job.uid))",
    replace: ".filter((pod) => pod.metadata.ownerReferences !== undefined)",
    scenarios: ["U22-same-name"],
    fault: "crash-.*",
  },
  {
    name: "U23-made-again",
    promise: "a pod that is there is not made (U23: volcano#385)",
    file: `${job}/syncing.ts`,
    find: "!there.has(index) && !seen.has(index) && !done.has(index)",
    replace: "(there.has(index) || !seen.has(index)) && !done.has(index)",
    scenarios: ["U23-called-thrice"],
    fault: "crash-.*",
  },
  {
    name: "U23-twice-is-trouble",
    promise: "a pod that an older list did not show, and so is made twice, is no trouble (U23: volcano#385)",
    file: "shared/engine/apply.ts",
    find: 'if (there.metadata.labels?.["rekindle.dev/attempt"] === wanted) return done;',
    replace:
      'if (there.metadata.labels?.["rekindle.dev/attempt"] === wanted) return refused(effect, { status: 409, reason: "AlreadyExists", message: "already exists" });',
    scenarios: ["U23-called-thrice"],
    fault: "stale",
  },
  {
    name: "U24-heir-taken-for-it",
    promise: "another object of the name is another job, with nothing of the first one's memory (U24: volcano#1241)",
    file: "shared/engine/observe.ts",
    find: "const same = object?.metadata.uid === record.uid;",
    replace: "const same = object !== undefined;",
    scenarios: ["U24-no-late-eviction"],
    fault: "crash-.*",
  },
  {
    name: "U25-group-dropped",
    promise: "a targeted restart leaves the job's group alone (U25: volcano#5385)",
    file: `${job}/taking.ts`,
    find: "exhausted: memory.exhausted.filter((task) => !tasks.has(task)),",
    replace:
      "exhausted: memory.exhausted.filter((task) => !tasks.has(task)),\n    ...(scene.group === undefined ? {} : { retired: scene.group.metadata.uid }),",
    scenarios: ["U25-group-kept"],
    fault: "crash-.*",
  },
  {
    name: "U26-timer-lost",
    promise: "an action that waits for its time is taken in time, whoever dies (U26: volcano's delayActionMap)",
    file: `${job}/planning.ts`,
    find: "...memory.delays.map(({ dueAt }) => dueAt)",
    replace: "",
    scenarios: ["U26-timer"],
    fault: "crash-.*",
  },
  {
    name: "U27-refusal-ends-it",
    promise: "what the API server says no to does not end a job (U27: volcano#1029)",
    file: `${job}/decide.ts`,
    find: "if (view.refused.length > 0) return refusedPlan(scene, view.refused);",
    replace:
      'if (view.refused.length > 0) return act({ ...scene, memory: { ...scene.memory, phase: "Terminating", version: scene.memory.version + 1 } });',
    scenarios: ["U27-trouble"],
    fault: "403|422|quota-.*",
  },
  {
    name: "U27-limit-ends-it",
    promise: "trouble does not end a job, however often it was met (U27: volcano#1029)",
    file: "shared/engine/return.ts",
    find: "const lasts = (run.message.tries ?? 0) >= 2 || told !== undefined;",
    replace: `const lasts = (run.message.tries ?? 0) >= 2 || told !== undefined;
  const { record } = held;
  if (record !== undefined && (run.message.tries ?? 0) >= 5) {
    const memory = { ...Object(record.memory), phase: "Terminating", version: Object(record.memory).version + 1 };
    await run.world.checkpoints.save(run.message, { ...record, saves: record.saves + 1, memory }, held.version);
  }`,
    scenarios: ["U27-trouble"],
    fault: "quota-.*",
  },
  {
    name: "U28-done-again",
    promise: "what has succeeded is not run again, also when its pod is removed (U28: volcano#791)",
    file: `${job}/syncing.ts`,
    find: " && !done.has(index)",
    replace: "",
    scenarios: ["U28-done-and-removed"],
    fault: "crash-.*",
  },
  {
    name: "U29-conditions-grow",
    promise: "a phase stands once among the conditions, however often it was entered (U29: volcano#5422)",
    file: `${job}/memory.ts`,
    find: "...before.conditions.filter((one) => one.phase !== into)",
    replace: "...before.conditions",
    scenarios: ["U29-conditions"],
    fault: "crash-.*",
  },
  {
    name: "job-abort-swallowed",
    promise: "a command that ends a job is honoured while it restarts",
    file: `${job}/machine.ts`,
    find: "const restarting: Row = {\n  ...endings,",
    replace: "const restarting: Row = {",
    scenarios: ["job-abort-restarting"],
    fault: "crash-.*",
  },
  {
    name: "job-first-container",
    promise: "the exit codes of all containers count",
    file: `${job}/crew.ts`,
    find: "...new Set(endingsOf(member).flatMap(({ code }) => (code === 0 ? [] : [code]))),",
    replace: "...new Set(endingsOf(member).slice(0, 1).flatMap(({ code }) => (code === 0 ? [] : [code]))),",
    scenarios: ["job-exit-code"],
    fault: "crash-.*",
  },
  {
    name: "job-command-twice",
    promise: "a command is remembered before its object goes, and so obeyed once",
    file: `${job}/choosing.ts`,
    find: "commands: remembered(commands, order)",
    replace: "commands: commands ?? []",
    scenarios: ["job-restart-by-command"],
    fault: "crash-.*",
  },
  {
    name: "job-lost-again",
    promise: "a group that was left behind is lost no more",
    file: `${job}/happenings.ts`,
    find: "[memory.unknown, memory.retired].includes(group.metadata.uid)",
    replace: "memory.unknown === group.metadata.uid",
    scenarios: ["job-unknown"],
    fault: "crash-.*",
  },
];
