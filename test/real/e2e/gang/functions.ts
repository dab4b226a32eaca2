/** Gangs of Jobs and of Spark applications by functions that a dispatcher calls, while it and they are killed. */
import { byFunctions } from "../dispatch/fixture.ts";
import type { Case } from "../scene.ts";
import { allEnd, inDefault, tenNames, wide } from "./applications.ts";
import { oneAfterTheOther } from "./cases.ts";
import { inNamespace } from "./fixture.ts";
import { placing } from "./near.ts";

const builtin = { REKINDLE_GANG: "builtin" } as const;

export const gangFunctions: readonly Case[] = [
  {
    name: "by functions: two gangs for one place, while the dispatcher and its functions are killed",
    run: (scene) =>
      inNamespace(scene, "gang-functions", (fixture) => byFunctions(scene, builtin, () => oneAfterTheOther(fixture))),
  },
  {
    name: "by functions: a HyperNode: gangs stay inside, or wait, while the dispatcher and its functions are killed",
    run: (scene) =>
      inNamespace(scene, "gang-near-functions", (fixture) => byFunctions(scene, builtin, () => placing(fixture))),
  },
  {
    name: "by functions: ten Spark applications on room for three, while the dispatcher and its functions are killed",
    run: (scene) => inDefault(scene, (fixture) => byFunctions(scene, builtin, () => allEnd(fixture, tenNames, wide))),
  },
];
