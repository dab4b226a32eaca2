/**
 * `rekindle/engine`: runs kinds of another package, in a host (`runHost`) and in functions (`handler` and others). Beside them the
 * step itself, for a caller that implements its ports; an in-memory record store and a Kubernetes client are included.
 */
export { memoryCheckpoints } from "../../adapters/checkpoints/memory.ts";
export { openCluster } from "../../adapters/kubernetes/cluster.ts";
export { type Decision, get, getIfAllowed, list, proxyGet, type Reads, settled } from "../../core/decision.ts";
export type { Transport } from "../../core/http.ts";
export { ApiError } from "../../core/http.ts";
export { groupOf, type Key, type Message, textOf } from "../../core/key.ts";
export type { Obj, Ref, Resource, Stored } from "../../core/object.ts";
export type { Operator, Parsed, Watch } from "../../core/operator.ts";
export type { Effect, Plan, Recovery, View } from "../../core/plan.ts";
export type { Ending, World } from "../../engine/context/world.ts";
export { readMessage } from "../../engine/message.ts";
export type { CheckpointRecord, Checkpoints, Clock, Cluster, Queue, Report } from "../../engine/ports.ts";
export { step } from "../../engine/reconcile/step.ts";
export { recovery, type Timing, timing } from "../../engine/settings.ts";
export {
  type FunctionOptions,
  forwardHandler,
  type HostOptions,
  handler,
  type OwnHandler,
  type OwnHost,
  type OwnKinds,
  resyncHandler,
  runHost,
} from "./own-kinds.ts";
