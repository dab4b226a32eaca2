/** Mutants of groups that enter by plans: each is seen by the sweep's family of gangs, or by the tests named. */
import type { Mutant } from "./mutants.ts";

const gang = "shared/volcano/gang";

export const gangMutants: readonly Mutant[] = [
  {
    name: "pods-before-the-plan",
    promise: "pods of a group are created only while it is admitted",
    file: "shared/volcano/job/apply-action.ts",
    find: 'return !["", "Pending"].includes(groupPhase(context));',
    replace: 'return groupPhase(context) !== "none";',
    scenarios: ["gang-race"],
    fault: "crash-after",
  },
  {
    name: "plan-for-ever",
    promise: "a plan whose pods do not get their places ends after 60 s",
    file: `${gang}/admission-writes.ts`,
    find: "const late = standing.filter(({ dueAt }) => dueAt !== undefined && dueAt <= now);",
    replace: "const late = standing.filter(({ dueAt }) => dueAt !== undefined && dueAt <= now - 3_600_000);",
    scenarios: ["gang-thief"],
    fault: "crash-after",
  },
  {
    name: "ending-pods-take-no-room",
    promise: "a pod under deletion holds its room until it has ended",
    file: `${gang}/rooms.ts`,
    find: "pods.filter((pod) => !isOver(podStatus(pod))),\n    placeOf,",
    replace:
      "pods.filter((pod) => !isOver(podStatus(pod)) && pod.metadata.deletionTimestamp === undefined),\n    placeOf,",
    scenarios: ["gang-thief"],
    fault: "crash-after",
  },
  {
    name: "plan-without-pins",
    promise: "the pods of a plan are pinned to its places",
    file: "shared/volcano/pods/pod.ts",
    find: "return node === undefined ? spec : pinned(spec, node);",
    replace: 'return node === undefined ? spec : { ...pinned(spec, node), affinity: spec["affinity"] };',
    scenarios: ["gang-race"],
    fault: "crash-after",
  },
  {
    name: "part-of-a-gang-kept",
    promise: "a group that is taken back loses all of its pods",
    file: "shared/volcano/job/observed-pods.ts",
    find: "!hasFinished(member) && isOfTakenBack(back, member.pod)",
    replace: '!hasFinished(member) && member.phase !== "Running" && isOfTakenBack(back, member.pod)',
    scenarios: ["gang-thief"],
    fault: "crash-after",
  },
  {
    name: "two-rounds-at-a-time",
    promise: "a round plans nothing until each write of the round before has arrived, or cannot arrive any more",
    file: `${gang}/admission-round.ts`,
    find: "now >= planning.at + latestMs",
    replace: "now >= planning.at",
    tests: ["test/unit/volcano/gang/take-back.test.ts"],
  },
  {
    name: "held-nodes-open",
    promise: "a group that has waited for room for ten minutes is not passed by a smaller one",
    file: `${gang}/ground.ts`,
    find: "hold === undefined || isHeld ? none : hold.nodes",
    replace: "hold === undefined || isHeld ? none : none",
    scenarios: ["gang-hold"],
    fault: "crash-after",
  },
  {
    name: "host-port-twice",
    promise: "no two pods of a plan have one host port of a node",
    file: `${gang}/needs.ts`,
    find: "(isPort(name) ? one.nano : undefined)",
    replace: "(isPort(name) ? 9n * one.nano : undefined)",
    tests: ["test/unit/volcano/gang/fit.test.ts"],
  },
  {
    name: "host-ports-unseen",
    promise: "a round counts the host ports of the pods of others",
    file: `${gang}/outlines.ts`,
    find: ", ...portsOutline(spec, mostPorts)",
    replace: ", ...portsOutline(spec, mostPorts * 0)",
    tests: ["test/unit/volcano/gang/outlines.test.ts"],
  },
  {
    name: "position-by-age-alone",
    promise: "the position of a group in its queue is the order in which groups are admitted",
    file: "shared/kube/queue-order.ts",
    find: "rank: [-own, ",
    replace: "rank: [0 * own, ",
    tests: ["test/unit/cli/queue.test.ts"],
  },
];
