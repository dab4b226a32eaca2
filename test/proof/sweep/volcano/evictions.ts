/** Groups that get the room of others. `eviction-judge.ts` holds what the scenarios must keep. */
import type { Scenario } from "../scenario.ts";
import { flow, template } from "./flow/scenarios.ts";
import { minutes, whileRunning, wide } from "./gangs.ts";
import { living, policy } from "./jobs.ts";

/** If an eviction were an event, or a failure, the job would be aborted. */
const intolerant = { policies: [policy("PodEvicted", "AbortJob"), policy("PodFailed", "AbortJob")] };

const priorityClass = (name: string, value: number): readonly [string, object] => [
  "/apis/scheduling.k8s.io/v1/priorityclasses",
  { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value },
];

const queue = (name: string, cpu: string): readonly [string, object] => [
  "/apis/scheduling.volcano.sh/v1beta1/queues",
  {
    ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name } },
    spec: { weight: 1, reclaimable: true, deserved: { cpu } },
    status: { state: "Open" },
  },
];

const group = (name: string, replicas: number, more: object) =>
  template(name, { tasks: [wide(replicas)], ...intolerant, ...more });

export const evictions: readonly Scenario[] = [
  flow({
    name: "gang-preempt",
    what: "a group of a higher priority gets the room of one of a lower priority, which runs again when that has ended",
    ...{ gang: "builtin", gangEvict: "preempt" },
    stands: [
      ...[priorityClass("low", 10), priorityClass("high", 1_000)],
      ...["low", "high"].map((name) => group(name, 2, { priorityClassName: name })),
    ],
    spec: { flows: [{ name: "low" }, whileRunning("high", "low")] },
    lives: living({ "*": [{ runMs: 12 * minutes }] }),
    ends: "Succeed",
  }),
  flow({
    name: "gang-reclaim",
    what: "a group whose queue has less than it deserves gets the room of a group whose queue has more, and both end",
    ...{ gang: "builtin", gangEvict: "reclaim" },
    stands: [
      ...[queue("mine", "48"), queue("theirs", "24")],
      ...["theirs", "mine"].map((name) => group(name, 2, { queue: name })),
    ],
    spec: { flows: [{ name: "theirs" }, whileRunning("mine", "theirs")] },
    lives: living({ "*": [{ runMs: 12 * minutes }] }),
    ends: "Succeed",
  }),
];
