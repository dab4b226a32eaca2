/** The pods of a Job as cells of its gang, and the jobs of a JobFlow as nodes of its graph. */

import type { Seen } from "../../cli/inspection/status.ts";
import { indexOf, taskOf } from "../../cli/inspection/target.ts";
import { specOf, statusOf } from "../../cli/kinds/volcano.ts";
import type { Stored } from "../../core/object.ts";
import { oneLine } from "../../core/text.ts";
import { podStatus } from "../../kube/pods.ts";
import { holdupText } from "../../kube/startup.ts";
import type { Cell, FlowNode, Gang, Group } from "../../page/wire.ts";
import { type Flow, flowSpecSchema, flowStatusSchema } from "../../volcano/schema/flow.ts";
import { groupOf } from "./projection.ts";

/** The most cells, and the most nodes, of one object. */
const mostMembers = 1_000;
const longestText = 400;

const groupsOfPods: Readonly<Record<string, Group>> = {
  Running: "running",
  Succeeded: "completed",
  Failed: "failed",
};

const cellOf = (pod: Stored, index: number, why: string): Cell => ({
  index,
  group:
    pod.metadata.deletionTimestamp === undefined ? (groupsOfPods[podStatus(pod).phase ?? ""] ?? "waiting") : "held",
  pod: pod.metadata.name,
  why: oneLine(why).slice(0, longestText),
});

const absent = (index: number): Cell => ({ index, group: "absent", pod: "", why: "" });

/** The gang of a Job; undefined for any other kind. */
export const gangOf = ({ target, object, pods, holdups }: Seen): Gang | undefined => {
  if (target.kind.resource.kind !== "Job") return undefined;
  const { minAvailable, maxRetry, queue = "default", tasks } = specOf(object);
  const { retryCount = 0 } = statusOf(object);
  const reasons = new Map(holdups.map((holdup) => [holdup.pod, holdupText(holdup)]));
  // Of several pods of one place the newest is the last.
  const places = new Map(pods.map((pod) => [`${taskOf(pod)} ${indexOf(pod)}`, pod]));
  let room = mostMembers;
  let wanted = 0;
  const shown = tasks.map(({ name = "", replicas = 1 }) => {
    wanted += replicas;
    const cells = Array.from({ length: Math.min(replicas, room) }, (_, index): Cell => {
      const pod = places.get(`${name} ${index}`);
      return pod === undefined ? absent(index) : cellOf(pod, index, reasons.get(pod.metadata.name) ?? "");
    });
    room -= cells.length;
    return { task: name, cells };
  });
  const phases = pods.map((pod) => podStatus(pod).phase);
  return {
    queue,
    least: minAvailable ?? wanted,
    have: phases.filter((phase) => phase === "Running" || phase === "Succeeded").length,
    retries: retryCount,
    mostRetries: maxRetry ?? 3,
    tasks: shown,
    more: Math.max(0, wanted - mostMembers),
  };
};

const probeText = ({ dependsOn }: Flow): string => {
  const { httpGetList = [], tcpSocketList = [], taskStatusList = [] } = dependsOn?.probe ?? {};
  return [
    ...httpGetList.map(({ port = "", path = "" }) => `probe :${port}${path}`),
    ...tcpSocketList.map(({ port = "" }) => `probe :${port}`),
    ...taskStatusList.map(({ taskName = "its tasks", phase = "" }) => `${taskName} ${phase}`),
  ].join(", ");
};

/** The jobs of a JobFlow; undefined for any other kind, and for a spec that cannot be read. */
export const flowOf = ({ target, object }: Seen): readonly FlowNode[] | undefined => {
  if (target.kind.resource.kind !== "JobFlow") return undefined;
  const { namespace, name: flow } = target.key;
  const flows = flowSpecSchema.safeParse(object["spec"]).data?.flows ?? [];
  const jobs = flowStatusSchema.safeParse(object["status"]).data?.jobStatusList ?? [];
  const states = new Map(jobs.map(({ name = "", state = "" }) => [name, state]));
  const stateOf = (name: string): string => states.get(`${flow}-${name}`) ?? "";
  return flows.slice(0, mostMembers).map((one): FlowNode => {
    const dependsOn = one.dependsOn?.targets ?? [];
    const state = stateOf(one.name);
    const open = state === "" ? dependsOn.filter((name) => stateOf(name) !== "Completed") : [];
    const probe = open.length === 0 ? "" : probeText(one);
    return {
      ...{ name: one.name, job: `Job/${namespace}/${flow}-${one.name}`, state, dependsOn },
      group: state === "" ? "waiting" : groupOf(state),
      waits: `${open.join(", ")}${probe === "" ? "" : `: ${probe}`}`.slice(0, longestText),
    };
  });
};
