/**
 * Probes of a dependency: what the tasks of a job that is depended on must show for the next to be made before that one
 * is complete. One that is complete has passed whatever it was to show.
 */
import type { Stored } from "../../core/object.ts";
import { type Query, queryId, type View } from "../../core/plan.ts";
import { labelOf, ownedBy, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { isRecord } from "../../kube/responses.ts";
import { phaseOf, shownBy } from "../child-jobs.ts";
import { keys } from "../resource.ts";
import { withoutNulls } from "../schema/absent.ts";
import type { Probe } from "../schema/flow.ts";
import { leastOf, nameOf, specSchema, type Task, tasksOf } from "../schema/spec.ts";
import type { Memory } from "./memory.ts";

/** So many pods of a task are asked, if it needs more: each is a request through the API server. */
const mostAsked = 20;

export type Verdict =
  | { readonly met: true }
  | { readonly met: false; readonly why: string }
  | { readonly look: readonly Query[] };

const met: Verdict = { met: true };

const unmet = (why: string): Verdict => ({ met: false, why });

/** The first that is not met counts; whatever is to be looked at is looked at together. */
const allOf = (verdicts: readonly Verdict[]): Verdict => {
  const look = verdicts.flatMap((verdict) => ("look" in verdict ? verdict.look : []));
  const failed = verdicts.find((verdict) => "met" in verdict && !verdict.met);
  if (failed !== undefined) return failed;
  return look.length > 0 ? { look } : met;
};

const tasksIn = (job: Stored): readonly Task[] => {
  const spec = specSchema.safeParse(withoutNulls(job["spec"] ?? {}));
  return spec.success ? tasksOf(spec.data) : [];
};

/** A task by its name, or all of them where none is named. */
const tasksNamed = (job: Stored, taskName = ""): readonly Task[] =>
  tasksIn(job).filter((task) => taskName === "" || nameOf(task) === taskName);

type Near = { readonly view: View<Memory>; readonly job: Stored };

const podsOf = ({ metadata: { name, namespace = "" } }: Stored): Query => ({
  do: "list",
  resource: pods,
  namespace,
  labels: { [keys.jobName]: name },
});

/** Enough pods of the task answer as they should. */
const answering = ({ view, job }: Near, task: Task, asking: (pod: Stored) => Query, what: string): Verdict => {
  const found = view.seen.get(queryId(podsOf(job)));
  if (found === undefined) return { look: [podsOf(job)] };
  const least = Math.min(leastOf(task), mostAsked);
  const running = found
    .filter((pod) => ownedBy(pod, job.metadata.uid) && labelOf(pod, keys.taskSpec) === nameOf(task))
    .filter((pod) => podStatus(pod).phase === "Running")
    .slice(0, mostAsked);
  if (running.length < least)
    return unmet(`${running.length} of ${least} pods of task ${nameOf(task)} of job ${job.metadata.name} run`);
  const asked = running.map((pod) => ({ query: asking(pod), hearing: view.heard?.get(queryId(asking(pod))) }));
  const look = asked.filter(({ hearing }) => hearing === undefined).map(({ query }) => query);
  if (look.length > 0) return { look };
  const good = asked.filter(({ hearing, query }) => isGood(query, hearing)).length;
  return good >= least
    ? met
    : unmet(`${good} of ${least} pods of task ${nameOf(task)} of job ${job.metadata.name} ${what}`);
};

/** What the API server says that could not connect, or would not; whatever else comes back is an answer. */
const unconnected = /dial tcp|no route to host|i\/o timeout|is forbidden: User|"reason":"(NotFound|BadRequest)"/;

type Heard = NonNullable<ReturnType<NonNullable<View<Memory>["heard"]>["get"]>>;

/** Who takes a connection and says nothing within the time for questions is not told from who takes none. */
const isConnected = (hearing: Heard): boolean => {
  if (hearing.heard) return true;
  if (hearing.why === "timeout" || unconnected.test(hearing.message)) return false;
  return hearing.why !== "unreachable" || hearing.message.startsWith("HTTP ");
};

/** Of a path, an answer below 400; of a bare port, that somebody is there. */
const isGood = (query: Query, hearing: Heard | undefined): boolean => {
  if (hearing === undefined) return false;
  if (query.do === "ask" && query.query !== bare)
    return hearing.heard || hearing.why === "notJson" || hearing.why === "tooLong";
  return isConnected(hearing);
};

/** Marks the question that only wants a connection. */
const bare = "rekindle-probe";

const podRef = ({ metadata: { name, namespace = "" } }: Stored) => ({ resource: pods, namespace, name });

type Http = NonNullable<Probe["httpGetList"]>[number];

const httpQuery =
  ({ path = "", port = 80, httpHeader }: Http) =>
  (pod: Stored): Query => {
    const [place = "", ...query] = path.split("?");
    return {
      do: "ask",
      pod: podRef(pod),
      port,
      path: place.split("/").filter((part) => part !== ""),
      ...(query.length === 0 ? {} : { query: query.join("?") }),
      ...(httpHeader === undefined ? {} : { header: { name: httpHeader.name, value: httpHeader.value } }),
    };
  };

const tcpQuery =
  (port: number) =>
  (pod: Stored): Query => ({ do: "ask", pod: podRef(pod), port, path: [], query: bare });

type TaskStatus = NonNullable<Probe["taskStatusList"]>[number];

/** Phases of pods as the job counts them; a task that is completed has succeeded. */
const stands = (job: Stored, task: Task, { phase = "" }: TaskStatus): Verdict => {
  const wanted = phase === "Completed" ? "Succeeded" : phase;
  const counts = shownBy(job).taskStatusCount?.[nameOf(task)]?.phase ?? {};
  const [there, least] = [counts[wanted] ?? 0, leastOf(task)];
  return there >= least
    ? met
    : unmet(`${there} of ${least} pods of task ${nameOf(task)} of job ${job.metadata.name} are ${wanted}`);
};

type Wish = { readonly taskName: string | undefined; readonly judge: (near: Near, task: Task) => Verdict };

const wishesOf = (probe: Probe): readonly Wish[] => [
  ...(probe.httpGetList ?? []).map((one) => ({
    taskName: one.taskName,
    judge: (near: Near, task: Task) =>
      answering(near, task, httpQuery(one), `answer at ${one.port ?? 80}${one.path ?? ""}`),
  })),
  ...(probe.tcpSocketList ?? []).map(({ taskName, port }) => ({
    taskName,
    judge: (near: Near, task: Task) => answering(near, task, tcpQuery(port), `take connections at ${port}`),
  })),
  ...(probe.taskStatusList ?? []).map((one) => ({
    taskName: one.taskName,
    judge: ({ job }: Near, task: Task) => stands(job, task, one),
  })),
];

/** A probe that asks for nothing is none. */
export const isProbe = (probe: Probe | undefined): probe is Probe => isRecord(probe) && wishesOf(probe).length > 0;

/** Whether the jobs that are depended on show what the probe wants; undefined is one that was complete and is gone. */
export const probed = (view: View<Memory>, targets: readonly (Stored | undefined)[], probe: Probe): Verdict => {
  const there = targets.filter((job) => job !== undefined);
  const open = there.filter((job) => phaseOf(job) !== "Completed");
  const verdicts = wishesOf(probe).map(({ taskName = "", judge }): Verdict => {
    const isKnown = there.length < targets.length || there.some((job) => tasksNamed(job, taskName).length > 0);
    if (!isKnown) return unmet(`none of its jobs has a task ${JSON.stringify(taskName)}: mend dependsOn.probe`);
    return allOf(open.flatMap((job) => tasksNamed(job, taskName).map((task) => judge({ view, job }, task))));
  });
  return allOf(verdicts);
};
