/** Jobs in queues with a capability, where Rekindle admits groups. `room-judge.ts` holds what the scenarios must keep. */
import type { Scenario, UserAction } from "../scenario.ts";
import { flow, template } from "./flow/scenarios.ts";
import { minutes, whileRunning } from "./gangs.ts";
import { job, living, phaseIs, task } from "./jobs.ts";

const bounded = (cpu: string): readonly [string, object] => [
  "/apis/scheduling.volcano.sh/v1beta1/queues",
  {
    ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name: "tight" } },
    spec: { weight: 1, reclaimable: true, parent: "root", capability: { cpu } },
    status: { state: "Open" },
  },
];

/** Pods of one core, by a request or by a limit alone. */
const cores = (replicas: number, least: number, amounts: "requests" | "limits" = "requests") =>
  task(
    "main",
    { replicas },
    {
      minAvailable: least,
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [{ name: "main", image: "busybox", resources: { [amounts]: { cpu: "1" } } }],
        },
      },
    },
  );

const inQueue = (replicas: number, least: number, amounts?: "limits") => ({
  ...{ queue: "tight", minAvailable: least },
  tasks: [cores(replicas, least, amounts)],
});

/** No group is in the default queue, so only a change of it lets its fields be completed before a resync. */
const completed: UserAction = {
  says: "the default queue is completed",
  when: ({ table }) => table === "podgroups.scheduling.volcano.sh",
  afterMs: 1_000,
  do: {
    ...{ type: "write", method: "PATCH", path: "/apis/scheduling.volcano.sh/v1beta1/queues/default" },
    body: { spec: { reclaimable: true } },
  },
};

/** Gives each container without amounts a core. */
const range: readonly [string, object] = [
  "/api/v1/namespaces/default/limitranges",
  {
    ...{ apiVersion: "v1", kind: "LimitRange", metadata: { name: "sizes" } },
    spec: { limits: [{ type: "Container", default: { cpu: "1" } }] },
  },
];

/** The namespace names the queue of its groups that name none. */
const namesQueue: readonly [string, object, "PATCH"] = [
  "/api/v1/namespaces/default",
  { metadata: { annotations: { "scheduling.volcano.sh/queue-name": "tight" } } },
  "PATCH",
];

type Named = { readonly metadata: { readonly name: string } & Readonly<Record<string, unknown>> };

/** A group of others whose pod names Volcano's scheduler, which does not run: nobody binds the pod. */
const foreign: readonly (readonly [path: string, body: Named & Readonly<Record<string, unknown>>])[] = [
  [
    "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups",
    {
      ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup", metadata: { name: "others" } },
      spec: { minMember: 1, queue: "tight", minResources: { cpu: "2" } },
    },
  ],
  [
    "/api/v1/namespaces/default/pods",
    {
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: { name: "head", annotations: { "scheduling.k8s.io/group-name": "others" } },
      spec: {
        ...{ schedulerName: "volcano", schedulingGates: [{ name: "example.org/unbound" }] },
        containers: [{ name: "main", image: "busybox", resources: { requests: { cpu: "2" } } }],
      },
    },
  ],
];

/** Others take it away when the job is over: while it waits, rounds look at it. */
const gone = ([
  path,
  {
    metadata: { name },
  },
]: (typeof foreign)[number]): UserAction => ({
  says: `${name} is deleted`,
  when: phaseIs("Completed"),
  afterMs: 60_000,
  do: { type: "write", method: "DELETE", path: `${path}/${name}` },
});

const bare = { ...task("main", { replicas: 4 }), minAvailable: 1 };

export const rooms: readonly Scenario[] = [
  job({
    name: "room-limit-range",
    what: "a LimitRange makes its four pods larger than its template says: its queue has room for two of them at a time",
    gang: "here",
    stands: [bounded("2"), range],
    spec: { queue: "tight", minAvailable: 1, tasks: [bare] },
    userActions: [completed],
    lives: living({ "*": [{ runMs: 40_000 }] }),
    ends: "Completed",
  }),
  job({
    name: "room-namespace-queue",
    what: "it names no queue, and its namespace does: its group is in that one before it is let in",
    gang: "here",
    stands: [bounded("4"), namesQueue],
    spec: { minAvailable: 1, tasks: [cores(3, 1)] },
    userActions: [completed],
    lives: living({ "*": [{ runMs: 40_000 }] }),
    ends: "Completed",
  }),
  job({
    name: "room-foreign-group",
    what: "a group of others, whose pods name a scheduler that does not run, is not let in, and takes no room of its queue",
    gang: "here",
    stands: [bounded("2"), ...foreign],
    spec: inQueue(2, 2),
    userActions: [completed, ...foreign.map(gone)],
    lives: living({ "*": [{ runMs: 40_000 }] }),
    ends: "Completed",
  }),
  job({
    name: "room-surplus",
    what: "its queue has room for two of its five pods: the others follow as pods end",
    gang: "here",
    stands: [bounded("2")],
    spec: inQueue(5, 1),
    userActions: [completed],
    lives: living({ "*": [{ runMs: 40_000 }] }),
    ends: "Completed",
  }),
  job({
    name: "room-scale",
    what: "it grows beyond the room of its queue while it runs, and its pods follow as others end",
    gang: "here",
    stands: [bounded("3")],
    spec: inQueue(2, 1, "limits"),
    lives: living({ "*": [{ runMs: 20 * minutes }] }),
    userActions: [
      completed,
      {
        says: "kubectl scale",
        when: phaseIs("Running"),
        afterMs: 5_000,
        do: { type: "patch", spec: inQueue(6, 1, "limits") },
      },
    ],
    ends: "Completed",
  }),
  flow({
    name: "room-shared",
    what: "two jobs in a queue with room for three of their seven pods: a minimum comes before pods beyond others' minima",
    gang: "builtin",
    stands: [bounded("3"), template("a", { ...inQueue(4, 1) }), template("b", { ...inQueue(3, 2, "limits") })],
    spec: { flows: [{ name: "a" }, whileRunning("b", "a")] },
    lives: living({ "*": [{ runMs: 2 * minutes }] }),
    userActions: [completed],
    ends: "Succeed",
  }),
];
