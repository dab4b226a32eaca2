/**
 * The command line may die at every call of a migration, before or after its effect: the same command, repeated,
 * reaches the same end.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Transport } from "../../../shared/core/http.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { everyNth } from "../../support/cases.ts";
import { install as installKubeflow } from "./kubeflow.ts";
import { application, installed, make, onTerminal, type Ran } from "./terminal.ts";
import { holders, pass, pictureOf } from "./upstreams.ts";
import { install as installVolcano } from "./volcanic.ts";

type Death = { readonly at: number; readonly when: "before" | "after" } | undefined;

/** Returns a transport that counts the requests, and throws at one of them. */
const mortal = (
  transport: Transport,
  death: Death,
): { readonly transport: Transport; readonly calls: () => number } => {
  let calls = 0;
  const send: Transport["send"] = async (request) => {
    calls += 1;
    if (calls !== death?.at) return await transport.send(request);
    if (death.when === "after") await transport.send(request);
    throw new Error("died");
  };
  return { transport: { ...transport, send }, calls: () => calls };
};

type World = { readonly simulator: Simulator; readonly family: string };

const families: Readonly<Record<string, (simulator: Simulator) => Promise<unknown>>> = {
  spark: installKubeflow,
  volcano: installVolcano,
};

const opened = async (family: string): Promise<World> => {
  const simulator = openSimulator({ crds: installed([""]) });
  await make(simulator, application("a", { applicationState: { state: "RUNNING" } }));
  await families[family]?.(simulator);
  return { simulator, family };
};

/** Opens the cluster once: each call of the result brings it back to its state at the start. */
const reopening = async (open: Promise<World>): Promise<() => World> => {
  const world = await open;
  const start = world.simulator.snapshot();
  return () => {
    world.simulator.restore(start);
    return world;
  };
};

const run = async (
  { simulator, family }: World,
  way: string,
  death?: Death,
): Promise<Ran & { readonly calls: number }> => {
  const { transport, calls } = mortal(simulator.transport, death);
  const terminal = onTerminal(simulator, { transport });
  const ran = await terminal.run("migrate", "--family", family, way, "--yes", "--force");
  return { ...ran, calls: calls() };
};

/** The cluster before each command: with upstream in charge, and after a migration. */
const before: Readonly<Record<string, (family: string) => Promise<World>>> = {
  "--apply": opened,
  "--undo": async (family) => {
    const world = await opened(family);
    await run(world, "--apply");
    return world;
  },
};

const end = (world: World): unknown => [pictureOf(world.simulator), holders(world.simulator)];

/** When the command dies, and the seconds until it is repeated: at once, and after all leases have expired. */
const deaths = [
  { when: "before", pause: 90 },
  { when: "after", pause: 0 },
] as const;

const upTo = (calls: number): readonly number[] => Array.from({ length: calls }, (_, at) => at + 1);

for (const family of Object.keys(families)) {
  describe(`${family}: a death at any call of`, () => {
    for (const [way, open] of Object.entries(before)) {
      it(`migrate ${way}: the same command continues to the same end`, async () => {
        const reopen = await reopening(open(family));
        const whole = reopen();
        const { calls, code } = await run(whole, way);
        pass(whole.simulator, 30);
        const wanted = end(whole);
        assert.equal(code, 0);
        assert.ok(calls > 20, `${calls} calls`);
        for (const at of everyNth(6, upTo(calls))) {
          for (const { when, pause } of deaths) {
            const world = reopen();
            const died = await run(world, way, { at, when });
            assert.equal(died.code, 1, `call ${at}: it did not die`);
            pass(world.simulator, pause);
            const again = await run(world, way);
            const nothingLeft = /nothing to undo/.test(again.err);
            assert.ok(again.code === 0 || nothingLeft, `death ${when} call ${at}: ${again.err}`);
            pass(world.simulator, 30);
            assert.deepEqual(end(world), wanted, `death ${when} call ${at}`);
          }
        }
      });
    }

    it("--apply and --undo: upstream's objects are the same afterwards", async () => {
      const world = await opened(family);
      const whole = end(world);
      for (const at of [5, 12, 19, 26]) {
        await run(world, "--apply", { at, when: "after" });
        await run(world, "--apply");
        await run(world, "--undo", { at, when: "after" });
        await run(world, "--undo");
        pass(world.simulator, 30);
        assert.deepEqual(end(world), whole);
      }
    });

    it("--apply: --undo restores everything, because the record is saved before each change", async () => {
      const reopen = await reopening(opened(family));
      const { calls } = await run(reopen(), "--apply");
      for (const at of everyNth(6, upTo(calls), 1)) {
        const world = reopen();
        const whole = pictureOf(world.simulator);
        await run(world, "--apply", { at, when: "after" });
        await run(world, "--undo");
        pass(world.simulator, 30);
        assert.deepEqual(pictureOf(world.simulator), whole, `--undo after a death at call ${at} of --apply`);
      }
    });
  });
}
