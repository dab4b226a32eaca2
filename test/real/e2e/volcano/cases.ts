/** The cases of the Volcano family, run in parallel on one fixture: one case per example file and per scenario. */
import type { Case, Scene } from "../scene.ts";
import { judged } from "./examples.ts";
import { expected } from "./expected.ts";
import { accounted, examplesIn } from "./files.ts";
import { type Fixture, type Gang, withFixture } from "./fixture.ts";
import { scenarios } from "./scenarios.ts";

type Act = (fixture: Fixture) => ReturnType<Case["run"]>;

/** The cases, and the fixture around them. `dir` holds upstream's examples; undefined: only the scenarios. */
export const volcanoCases = (dir: string | undefined, gang: Gang) => {
  let here: { fixture: Fixture; during: <R>(one: Promise<R>) => Promise<R> } | undefined;
  const on = (act: Act) => (): ReturnType<Case["run"]> => {
    if (here === undefined) throw new Error("there is no fixture");
    return here.during(act(here.fixture));
  };
  const files = dir === undefined ? [] : examplesIn(dir);
  const applied = files.filter(({ path }) => expected[path]?.others === undefined);
  const cases: readonly Case[] = [
    ...(dir === undefined
      ? []
      : [{ name: "every example file has its row, and every row its file", run: on(async () => accounted(files)) }]),
    ...applied.map((file) => ({ name: file.path, run: on((fixture) => judged(fixture, file)) })),
    ...scenarios.map(({ letter, name, run }) => ({
      name: `${letter}: ${name}`,
      run: on((fixture) => run(fixture, `scenario-${letter.toLowerCase()}`)),
    })),
  ];
  const around = <T>(scene: Scene, work: () => Promise<T>): Promise<T> =>
    withFixture(scene, gang, (fixture, during) => {
      here = { fixture, during };
      return work();
    });
  return { cases, around };
};
