/** Runs every scenario against the simulator and against a real API server, and prints where they differ. */
import { parseArgs } from "node:util";
import { openSimulator } from "../../../shared/simulator/simulator.ts";
import { clusterApi, simulatorApi } from "./apis.ts";
import { transcript } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

type Difference = { readonly at: string; readonly simulator: unknown; readonly real: unknown };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const differences = (simulator: unknown, real: unknown, at = ""): readonly Difference[] => {
  if (JSON.stringify(simulator) === JSON.stringify(real)) return [];
  if (!isObject(simulator) || !isObject(real) || Array.isArray(simulator) !== Array.isArray(real))
    return [{ at, simulator, real }];
  const keys = [...new Set([...Object.keys(simulator), ...Object.keys(real)])];
  return keys.flatMap((key) => differences(simulator[key], real[key], `${at}.${key}`));
};

const { values } = parseArgs({ options: { kubeconfig: { type: "string" }, only: { type: "string" } } });
if (values.kubeconfig === undefined) throw new Error("--kubeconfig FILE names the real API server");
const real = clusterApi(values.kubeconfig);
const run = Date.now().toString(36);
let same = 0;
let different = 0;
for (const [i, scenario] of scenarios.entries()) {
  if (values.only !== undefined && !scenario.name.includes(values.only)) continue;
  const ns = `b-${run}-${i}`;
  const ours = await transcript(simulatorApi(openSimulator({ nodes: [] })), scenario, ns);
  const theirs = await transcript(real, scenario, ns);
  await real.call("DELETE", `/api/v1/namespaces/${ns}`);
  for (const [j, { name, said }] of theirs.entries()) {
    const found = differences(ours[j]?.said, said);
    if (found.length === 0) same += 1;
    else {
      different += 1;
      console.log(`≠ ${scenario.name} · ${name}`);
      for (const { at, simulator: ourValue, real: theirValue } of found)
        console.log(
          `    ${at}\n      simulator ${JSON.stringify(ourValue)?.slice(0, 600)}\n      real      ${JSON.stringify(theirValue)?.slice(0, 600)}`,
        );
    }
  }
}
console.log(`${same} the same, ${different} different`);
