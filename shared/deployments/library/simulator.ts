/** `rekindle/simulator`: an in-memory Kubernetes under a virtual clock, with an HTTP server for kubectl and clients. */
export { type Caller, openCaller } from "../../simulator/calling.ts";
export type { NodeSpec } from "../../simulator/machines.ts";
export { type Options, openSimulator, type Simulator, type SimulatorState } from "../../simulator/open.ts";
export type { DriverScript, PodScript, Scripts } from "../../simulator/script.ts";
export { type Served, serveSimulator } from "../../simulator/serve.ts";
export type { Change } from "../../simulator/store.ts";
