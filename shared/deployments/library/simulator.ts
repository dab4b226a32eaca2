/** `rekindle/simulator`: an in-memory Kubernetes under a virtual clock, with an HTTP server for kubectl and clients. */
export { type Caller, openCaller, type Served, serveSimulator } from "../../simulator/http/serve.ts";
export type { NodeSpec } from "../../simulator/nodes/machines.ts";
export type { DriverScript, PodScript, Scripts } from "../../simulator/nodes/script.ts";
export { type Options, openSimulator, type Simulator, type SimulatorState } from "../../simulator/open.ts";
export type { Change } from "../../simulator/storage/store.ts";
export { recordDefinition } from "./record-definition.ts";
