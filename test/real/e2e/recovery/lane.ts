/**
 * Executors are lost in every way while their host is killed; each application completes with its number of executors
 * restored.
 */
import { dirname } from "node:path";
import { patienceMs } from "../../cluster/api.ts";
import { killing } from "../killing.ts";
import { type Case, must, type Scene } from "../scene.ts";
import { type Ledger, openLedger } from "../spark/ledger.ts";
import { awaitState, driverLog, stateOf } from "../witness.ts";
import { blows, type Fight, frozen, struck, untilBack } from "./blows.ts";
import { openBook } from "./book.ts";
import {
  application,
  checkedAnswer,
  gatesIn,
  leastSeconds,
  type Mode,
  modes,
  nameOf,
  openGate,
  wanted,
} from "./job.ts";
import { judged } from "./judge.ts";
import type { Cause } from "./judgements.ts";
import { openSpoiler, type Spoiler } from "./spoiler.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

/** Runs `work` for every mode in parallel; the modes share only the machine, the host and its kills. */
const each = <T>(work: (mode: Mode) => Promise<T>): Promise<readonly T[]> => Promise.all(modes.map(work));

const applied = async ({ cluster }: Scene, mode: Mode, gates: string): Promise<void> => {
  const { status, body } = await cluster.api.call("POST", applications, application(mode, gates, annotations));
  must(status === 201, `${nameOf(mode)} is not created: ${JSON.stringify(body)}`);
};

/** Short enough to find an executor that never starts within the test. */
const annotations = { "rekindle.dev/executor-pending-timeout": "10s" };

/** Injects every fault twice, and freezes the node last. */
const tormented = async (fight: Fight, gates: string): Promise<void> => {
  const { scene, book } = fight;
  await each(async (mode) => {
    await applied(scene, mode, gates);
    await awaitState(scene.cluster.api, nameOf(mode), ["RUNNING"], patienceMs);
    scene.say(`${mode}: ${wanted} executors after ${(await untilBack(scene, book, mode)).toFixed(1)} s`);
    for (const blow of [...blows, ...blows]) await struck(fight, mode, blow);
  });
  await frozen(fight, modes);
  await each(async (mode) => {
    await untilBack(scene, book, mode);
    await openGate(gates, mode);
  });
};

/** Returns the faults of an application's executors; those that the webhook spoiled never start. */
const doneTo = ({ book, done }: Fight, { spoiled }: Spoiler, mode: Mode): ReadonlyMap<string, Cause> => {
  const names = new Set([...book.of(nameOf(mode)).values()].map(({ metadata }) => metadata.name));
  const never = [...spoiled.keys()].map((name): [string, Cause] => [name, { reason: "neverStarted" }]);
  return new Map([...never, ...done].filter(([name]) => names.has(name)));
};

const ended = async ({ cluster }: Scene, ledger: Ledger, mode: Mode): Promise<string> => {
  const name = nameOf(mode);
  const app = await awaitState(cluster.api, name, ["COMPLETED", "FAILED"], patienceMs);
  must(stateOf(app) === "COMPLETED", `${name} ended ${JSON.stringify(app.status)}`);
  const answer = checkedAnswer(await driverLog(cluster.api, `${name}-driver`));
  const page = ledger.of(name);
  must(page.mostDrivers === 1 && page.drivers.size === 1, `${name} had more than one driver`);
  must(app.status?.executionAttempts === 1, `${name}: ${app.status?.executionAttempts} executions`);
  return `${name}: ${page.states.join(" → ")}; "${answer}"`;
};

export const recovered: Case = {
  name: `executors killed, deleted, out of memory, on a frozen node, never startable, under a host that is killed; both modes, ≥ ${leastSeconds} s`,
  run: async (scene) => {
    const { cluster } = scene;
    const gates = await gatesIn(dirname(scene.hostLog));
    const spoiler = await openSpoiler(cluster);
    const killer = killing(scene, [], 20_000);
    const [book, ledger] = [openBook(cluster.api), openLedger(cluster.api)];
    const fight: Fight = { scene, book, done: new Map() };
    try {
      await killer.during(tormented(fight, gates));
      const ends = await killer.during(each((mode) => ended(scene, ledger, mode)));
      const kills = killer.kills();
      const accounts = await each((mode) => judged(scene, book, mode, doneTo(fight, spoiler, mode)));
      return [...ends, ...accounts, `${kills} kills of the host; ${spoiler.spoiled.size} executors spoiled`];
    } finally {
      await killer.stop();
      await Promise.all([book.stop(), ledger.stop()]);
      await spoiler.stop();
    }
  },
};
