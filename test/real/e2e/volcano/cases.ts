/** The cases of the Volcano family, run in parallel on one stage: one case per example file and per scenario. */
import type { Case, Scene } from "../scene.ts";
import { judged } from "./examples.ts";
import { expected } from "./expected.ts";
import { accounted, examplesIn } from "./files.ts";
import { scenarios } from "./scenarios.ts";
import { type Gang, type Stage, staged } from "./stage.ts";

type Act = (stage: Stage) => ReturnType<Case["run"]>;

/** The cases, and the stage around them. `dir` holds upstream's examples; undefined: only the scenarios. */
export const volcanoCases = (dir: string | undefined, gang: Gang) => {
  let here: { stage: Stage; during: <R>(one: Promise<R>) => Promise<R> } | undefined;
  const on = (act: Act) => (): ReturnType<Case["run"]> => {
    if (here === undefined) throw new Error("there is no stage");
    return here.during(act(here.stage));
  };
  const files = dir === undefined ? [] : examplesIn(dir);
  const applied = files.filter(({ path }) => expected[path]?.others === undefined);
  const cases: readonly Case[] = [
    ...(dir === undefined
      ? []
      : [{ name: "every example file has its row, and every row its file", run: on(async () => accounted(files)) }]),
    ...applied.map((file) => ({ name: file.path, run: on((stage) => judged(stage, file)) })),
    ...scenarios.map(({ letter, name, run }) => ({
      name: `${letter}: ${name}`,
      run: on((stage) => run(stage, `scenario-${letter.toLowerCase()}`)),
    })),
  ];
  const around = <T>(scene: Scene, work: () => Promise<T>): Promise<T> =>
    staged(scene, gang, (stage, during) => {
      here = { stage, during };
      return work();
    });
  return { cases, around };
};
