/**
 * `rekindle/engine`: the step, its ports, and the types for a controller of another kind. The caller implements the
 * ports; an in-memory record store and a Kubernetes client over a transport are included.
 */
export { memoryCheckpoints } from "../../adapters/checkpoints/memory.ts";
export { openCluster } from "../../adapters/kubernetes/cluster.ts";
export { type Decision, get, getIfAllowed, list, proxyGet, type Reads, settled } from "../../core/decision.ts";
export type { Transport } from "../../core/http.ts";
export { ApiError } from "../../core/http.ts";
export { groupOf, type Key, type Message, textOf } from "../../core/key.ts";
export type { Obj, Ref, Resource, Stored } from "../../core/object.ts";
export type { Operator, Parsed, Watch } from "../../core/operator.ts";
export type { Effect, Plan, View } from "../../core/plan.ts";
export type { Ending, World } from "../../engine/context/world.ts";
export { readMessage } from "../../engine/message.ts";
export type { CheckpointRecord, Checkpoints, Clock, Cluster, Queue, Report } from "../../engine/ports.ts";
export { step } from "../../engine/reconcile/step.ts";
export { recovery, type Timing, timing } from "../../engine/settings.ts";
