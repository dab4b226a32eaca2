/** How a group that was let in here stands, by its pods: what Volcano's scheduler would write of it. */
import type { Stored } from "../../core/object.ts";
import { conditionOf, nodeNameOf, podStatus } from "../../kube/pods.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { phaseOf } from "./admission.ts";
import { letIn } from "./admit.ts";

type Phase = "Inqueue" | "Running" | "Unknown" | "Completed";

const phases: readonly Phase[] = ["Inqueue", "Running", "Unknown", "Completed"];

type Count = {
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Placed on a node, whatever has become of them. */
  readonly placed: number;
  /** No node has room for them. */
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

/** Once it has run, a group of which a part finds no place any more is `Unknown`. As volcano scheduler's jobStatus. */
const nextOf = (now: Phase, { running, succeeded, placed, homeless }: Count, least: number): Phase => {
  if (placed > 0 && placed >= least) return succeeded === placed ? "Completed" : "Running";
  return now !== "Inqueue" && running > 0 && homeless > 0 ? "Unknown" : now;
};

const leastOf = (group: Stored): number => {
  const { minMember } = Object(group["spec"]);
  return typeof minMember === "number" ? minMember : 0;
};

const countsOf = ({ running, succeeded, failed }: Count): Json => ({ running, succeeded, failed });

const saysSo = (group: Stored, counts: Json): boolean => {
  const status = isRecord(group["status"]) ? group["status"] : {};
  return Object.entries(counts).every(([name, count]) => (status[name] ?? 0) === count);
};

/** The status of a group as far as its pods change it; undefined where it stands as they do, or somebody else lets groups in. */
export const standingOf = (group: Stored, pods: readonly Stored[]): Json | undefined => {
  const now = phases.find((phase) => phase === phaseOf(group));
  if (now === undefined || group.metadata.annotations?.[letIn] === undefined) return undefined;
  const count = countOf(pods);
  const phase = nextOf(now, count, leastOf(group));
  const counts = countsOf(count);
  // Until all that it needs is placed, nobody asks how many of them run.
  if (phase === now && (phase === "Inqueue" || saysSo(group, counts))) return undefined;
  return { status: { phase, ...counts } };
};
