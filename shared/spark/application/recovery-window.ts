/** After a recovery: what is missing may come back within the window, and what has not come up by its end is ended. */
import type { Stored } from "../../core/object.ts";
import type { Effect, Plan } from "../../core/plan.ts";
import { podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { type ApplicationContext, endStrays, removal } from "./context.ts";
import type { Evidence } from "./driver/evidence.ts";
import { alive, type Pods } from "./driver/evidence.ts";
import type { Memory } from "./memory.ts";

/**
 * `awaited`: nothing is decided on before the driver has had its time. `open`: executors may still come up. `over`: what
 * has not come up is ended.
 */
export type RecoveryWindow = {
  readonly is: "awaited" | "open" | "over";
  readonly until?: number;
  readonly ends: readonly Effect[];
};

/** How often a driver that is missing is looked for. */
const againMs = 5_000;

/** Executors that were started and are not up. */
const pendingIn = ({ executors }: Pods): readonly Stored[] =>
  alive(executors).filter((pod) => !["Running", "Succeeded", "Failed"].includes(podStatus(pod).phase ?? ""));

/** What the window means for a run whose driver shows this evidence. */
export const recoveryWindow = (
  scene: ApplicationContext,
  found: Pods,
  { see }: { readonly see: Evidence },
): RecoveryWindow => {
  const { now, returning } = scene.view;
  if (returning === undefined) return { is: "over", ends: [] };
  const { until, ends = false } = returning;
  if (see === "lost" && now < until) return { is: "awaited", until, ends: [] };
  const pending = see === "running" && ends ? pendingIn(found) : [];
  if (now < until && pending.length > 0) return { is: "open", until, ends: [] };
  return { is: "over", ends: pending.map((pod) => removal(pod, pods)) };
};

/** The plan while the driver may still come back: only strays are ended. */
export const awaiting = (found: Pods, until: number): Pick<Plan<Memory>, "stages" | "next"> => ({
  stages: [endStrays(found)],
  next: {
    do: "wait",
    returning: true,
    wakeAt: until,
    pollMs: againMs,
    waitsFor: { on: "return", of: "the driver", until },
  },
});
