/** Gangs of Jobs and of Spark applications by functions that a dispatcher calls, while it and they are killed. */
import { dirname, join } from "node:path";
import { startDispatched } from "../dispatch/fixture.ts";
import { installOverlay } from "../functions/fixture.ts";
import { installFunctions } from "../installed.ts";
import type { Case, Scene } from "../scene.ts";
import { allEnd, inDefault, tenNames, wide } from "./applications.ts";
import { oneAfterTheOther } from "./cases.ts";
import { inNamespace } from "./fixture.ts";
import { placing } from "./near.ts";

/** Runs `work` by functions with this setting `gang`, and returns its lines and the number of kills. */
export const byFunctions = async (
  scene: Scene,
  gang: "builtin" | "native",
  work: () => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const installed = await installOverlay(scene.cluster, join(dirname(scene.hostLog), "functions"), "dispatch");
  // Adds the rights of features, which the overlay leaves to their users.
  await installFunctions(scene.cluster);
  const { functions, daemons, stop } = await startDispatched(installed, scene.random, { REKINDLE_GANG: gang });
  try {
    const lines = await work();
    const kills = daemons.map(({ name, kills: count }) => `${count()} of ${name}`);
    return [...lines, `kills: ${functions.reconcile.kills.length} of reconcile, ${kills.join(", ")}`];
  } finally {
    await stop();
  }
};

export const gangFunctions: readonly Case[] = [
  {
    name: "by functions: two gangs for one place, while the dispatcher and its functions are killed",
    run: (scene) =>
      inNamespace(scene, "gang-functions", (fixture) => byFunctions(scene, "builtin", () => oneAfterTheOther(fixture))),
  },
  {
    name: "by functions: a HyperNode: gangs stay inside, or wait, while the dispatcher and its functions are killed",
    run: (scene) =>
      inNamespace(scene, "gang-near-functions", (fixture) => byFunctions(scene, "builtin", () => placing(fixture))),
  },
  {
    name: "by functions: ten Spark applications on room for three, while the dispatcher and its functions are killed",
    run: (scene) => inDefault(scene, (fixture) => byFunctions(scene, "builtin", () => allEnd(fixture, tenNames, wide))),
  },
];
