/** One of the threads of a soak: leads the life of each seed that it is given, and tells. */
import { parentPort, workerData } from "node:worker_threads";
import { lead } from "./lead.ts";
import { ruleNamed } from "./rules.ts";
import { openHouse } from "./theatre.ts";

// Nobody reads where a refusal was made; what is replayed alone says it.
Error.stackTraceLimit = 0;

const rule = ruleNamed(String(workerData.rule));
const house = openHouse();

parentPort?.on("message", async (seed: number) => {
  parentPort?.postMessage(await lead({ house, rule }, seed));
});

parentPort?.postMessage(undefined);
