/** A thread of a soak: leads the life of each seed that it receives, and posts the result. */
import { parentPort, workerData } from "node:worker_threads";
import { openInitialCluster } from "./fixture.ts";
import { lead } from "./lead.ts";
import { ruleNamed } from "./rules.ts";

// No code reads the stack traces of refusals here; a replay of the life shows them.
Error.stackTraceLimit = 0;

const rule = ruleNamed(String(workerData.rule));
const initialCluster = openInitialCluster();

parentPort?.on("message", async (seed: number) => {
  parentPort?.postMessage(await lead({ initialCluster, rule, replay: workerData.replay === true }, seed));
});

parentPort?.postMessage(undefined);
