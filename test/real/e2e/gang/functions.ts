/** Two gangs for one place, by functions that a dispatcher calls, while it and they are killed. */
import { dirname, join } from "node:path";
import { startDispatched } from "../dispatch/fixture.ts";
import { installOverlay } from "../functions/fixture.ts";
import { installFunctions } from "../installed.ts";
import type { Case } from "../scene.ts";
import { oneAfterTheOther } from "./cases.ts";
import { inNamespace } from "./fixture.ts";

export const gangFunctions: Case = {
  name: "by functions: two gangs for one place, while the dispatcher and its functions are killed",
  run: (scene) =>
    inNamespace(scene, "gang-functions", async (fixture) => {
      const installed = await installOverlay(scene.cluster, join(dirname(scene.hostLog), "functions"), "dispatch");
      // Adds the right to list nodes, which the overlay leaves to users of `gang: builtin`.
      await installFunctions(scene.cluster);
      const { functions, daemons, stop } = await startDispatched(installed, scene.random, { REKINDLE_GANG: "builtin" });
      try {
        const lines = await oneAfterTheOther(fixture);
        const kills = daemons.map(({ name, kills: count }) => `${count()} of ${name}`);
        return [...lines, `kills: ${functions.reconcile.kills.length} of reconcile, ${kills.join(", ")}`];
      } finally {
        await stop();
      }
    }),
};
