/**
 * The claims of the demo, each checked against objects that were read from the API; the demo fails when one does not
 * hold.
 */

import { counted } from "../../core/counted.ts";
import type { Stored } from "../../core/object.ts";
import { applicationView, type ObservedCluster, type PodView, podsOf } from "./observed-cluster.ts";

export type Claim = { readonly claim: string; readonly holds: boolean; readonly found: string };

/** Facts that only the demo knows: its faults in the cluster and the functions. */
export type Deeds = {
  readonly killedExecutor: string | undefined;
  readonly killedInvocation: number | undefined;
  readonly tookOver: number | undefined;
};

export type Evidence = {
  readonly scene: ObservedCluster;
  readonly application: Stored | undefined;
  /** States of the application, in the order of their appearance. */
  readonly states: readonly string[];
  readonly deeds: Deeds;
  /** The driver's log, as read from the API. */
  readonly log: string;
};

const path = ["SUBMITTED", "RUNNING", "COMPLETED"].join(" → ");

const drivers = (pods: readonly PodView[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { role, attempt } of pods) if (role === "driver") counts.set(attempt, (counts.get(attempt) ?? 0) + 1);
  return counts;
};

const oneDriver = (pods: readonly PodView[], attempts: number): Claim => {
  const counts = drivers(pods);
  const found = [...counts].map(([attempt, count]) => `attempt ${attempt}: ${counted(count, "driver")}`).join(", ");
  const holds = counts.size === attempts && [...counts.values()].every((count) => count === 1);
  return { claim: "one driver per attempt", holds: holds && attempts > 0, found: found === "" ? "no driver" : found };
};

/** Checks the replacement. The first executors have ids up to `wants`; each later one is a replacement. */
const replaced = (pods: readonly PodView[], wants: number, name: string | undefined): Claim => {
  const claim = "a killed executor was replaced";
  const lost = pods.find((pod) => pod.name === name);
  if (lost === undefined) return { claim, holds: false, found: "no executor was killed" };
  const next = pods.find(
    ({ role, id, phase }) => role === "executor" && id > wants && (phase === "Running" || phase === "Succeeded"),
  );
  const end = lost.exit === undefined ? "has not ended" : `exit code ${lost.exit}`;
  const successor = next === undefined ? "no replacement" : `replaced by executor ${next.id}`;
  return { claim, holds: lost.exit === 137 && next !== undefined, found: `executor ${lost.id}: ${end}; ${successor}` };
};

const outlived = ({ killedInvocation, tookOver }: Deeds): Claim => ({
  claim: "an invocation continued after the kill",
  holds: killedInvocation !== undefined && tookOver !== undefined && tookOver > killedInvocation,
  found: `killed: invocation ${killedInvocation ?? "none"}; continued: invocation ${tookOver ?? "none"}`,
});

/** Returns the line of the driver's log with the result. */
export const piIn = (log: string): string | undefined =>
  log.split("\n").find((line) => line.startsWith("Pi is roughly 3."));

const logged = (log: string): Claim => {
  const line = piIn(log);
  return { claim: "the driver's log is readable", holds: line !== undefined, found: line ?? "no such line in its log" };
};

export const claimsOf = ({ scene, application, states, deeds, log }: Evidence): readonly Claim[] => {
  const pods = application === undefined ? [] : podsOf(scene, application.metadata.uid);
  const { attempts, wants } = application === undefined ? { attempts: 0, wants: 0 } : applicationView(application);
  const found = states.join(" → ");
  return [
    { claim: "the application is COMPLETED", holds: found === path, found: found === "" ? "no state" : found },
    oneDriver(pods, attempts),
    replaced(pods, wants, deeds.killedExecutor),
    outlived(deeds),
    logged(log),
  ];
};
