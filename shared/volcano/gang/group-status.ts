/** The status of a group that Rekindle admitted, derived from its pods as Volcano's scheduler would write it. */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { conditionOf, nodeNameOf, podStatus } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { phaseOf } from "./phase.ts";
import { letIn, planKey, planOf } from "./plan.ts";
import { takenBackKey } from "./take-back.ts";

type Phase = "Inqueue" | "Running" | "Unknown" | "Completed";

const phases: readonly Phase[] = ["Inqueue", "Running", "Unknown", "Completed"];

type Count = {
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Placed on a node, in whatever state. */
  readonly placed: number;
  /** Unschedulable: no node has room for them. */
  readonly homeless: number;
};

const countOf = (pods: readonly Stored[]): Count => {
  const stati = pods.map((pod) => ({ status: podStatus(pod), node: nodeNameOf(pod) }));
  const inPhase = (name: string): number => stati.filter(({ status }) => status.phase === name).length;
  const [running, succeeded, failed] = [inPhase("Running"), inPhase("Succeeded"), inPhase("Failed")];
  const unplaced = stati.filter(({ status, node }) => status.phase === "Pending" && node === undefined);
  const homeless = unplaced.filter(({ status }) => conditionOf(status, "PodScheduled")?.reason === "Unschedulable");
  const pending = stati.filter(({ status, node }) => status.phase === "Pending" && node !== undefined).length;
  return { running, succeeded, failed, placed: running + succeeded + failed + pending, homeless: homeless.length };
};

/**
 * Returns the next phase. A group that has run and of which a part cannot be placed is `Unknown`. As volcano
 * scheduler's jobStatus.
 */
const nextOf = (now: Phase, { running, succeeded, placed, homeless }: Count, least: number): Phase => {
  if (placed > 0 && placed >= least) return succeeded === placed ? "Completed" : "Running";
  return now !== "Inqueue" && running > 0 && homeless > 0 ? "Unknown" : now;
};

const leastOf = (group: Stored): number => {
  const { minMember } = fieldsOf(group["spec"]);
  return typeof minMember === "number" ? minMember : 0;
};

const countsOf = ({ running, succeeded, failed }: Count): Json => ({ running, succeeded, failed });

const saysSo = (group: Stored, counts: Json): boolean => {
  const status = fieldsOf(group["status"]);
  return Object.entries(counts).every(([name, count]) => (status[name] ?? 0) === count);
};

/** The end of a plan: the group was whole once, so it is not taken back any more. */
const planEnds: Json = { metadata: { annotations: { [planKey]: null, [takenBackKey]: null } } };

/**
 * Returns the part of a group that its pods change; undefined if it is up to date, or Rekindle has not admitted the group.
 * `isWhole`: no pod of its plan lacks a node. While one does, the group is Inqueue.
 */
export const groupStatusPatch = (group: Stored, pods: readonly Stored[], isWhole: boolean): Json | undefined => {
  const now = phases.find((phase) => phase === phaseOf(group));
  if (now === undefined || group.metadata.annotations?.[letIn] === undefined) return undefined;
  const isPlanned = planOf(group) !== undefined;
  if (isPlanned && !isWhole) return undefined;
  const count = countOf(pods);
  const phase = nextOf(now, count, leastOf(group));
  const counts = countsOf(count);
  const ends = isPlanned ? planEnds : {};
  // The status of an Inqueue group gets no pod counts.
  if (phase === now && (phase === "Inqueue" || saysSo(group, counts))) return isPlanned ? ends : undefined;
  return { ...ends, status: { phase, ...counts } };
};
