/**
 * `npm run e2e -- --bell`: no forwarder and no watch. The API server calls the built bell by the shipped webhook
 * configuration; the queue is on NATS. The bell is killed and hangs, so rings are lost, and resyncs find what they were about.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { jobsPath } from "../cloud/works.ts";
import type { Fixture } from "../functions/fixture.ts";
import type { Lane } from "../functions/lane.ts";
import { troubles } from "../functions/troubles.ts";
import { completing, deleted, failing } from "../lambda/applications.ts";
import type { Case } from "../lambda/cases.ts";
import { collection } from "../lambda/witness.ts";
import { type KeySender, openOnNats } from "../nats/fixture.ts";
import { onNats } from "../nats/lane.ts";
import { must } from "../scene.ts";
import { bellSettings, registerBell } from "./registration.ts";

/** Every third end of the bell begins with a hang of this time, ms. */
const hangMsOf = (kills: number): number => (kills >= 200 ? 120_000 : 15_000);
const hangsEvery = 3;

const bell: KeySender = {
  name: "bell",
  env: bellSettings,
  register: registerBell,
  end: (kills) => {
    let ends = 0;
    return async (child) => {
      ends += 1;
      if (ends % hangsEvery === 1) {
        child.kill("SIGSTOP");
        await sleep(hangMsOf(kills));
      }
      child.kill("SIGKILL");
    };
  },
};

const keys = [
  ...[...completing, failing, deleted].map(({ name }) => `SparkApplication/default/${name}`),
  "Job/default/job",
];

const rang: Case<Fixture> = {
  name: "the bell rang for every application and job, and no watch was open",
  run: async ({ logs = "", audit }) => {
    const lines = (await readFile(join(logs, "bell.log"), "utf8"))
      .split("\n")
      .filter((line) => line.includes('"rang"'));
    const silent = keys.filter((key) => !lines.some((line) => line.includes(key)));
    must(silent.length === 0, `no ring for ${silent.join(", ")}`);
    const watches = (await audit.read()).filter(({ verb }) => verb === "watch");
    must(watches.length === 0, `${watches.length} watches were opened`);
    return [`${lines.length} rings with keys`];
  },
};

const stirred = [...[...completing, failing].map(({ name }) => `${collection}/${name}`), `${jobsPath}/job`];

/** Annotates an application or job, which rings. One that is not there yet is left out. */
const annotated = async ({ cluster }: Fixture, nth: number): Promise<void> => {
  const path = stirred[nth % stirred.length] ?? "";
  const body = { metadata: { annotations: { "rekindle.test/stir": String(nth) } } };
  await cluster.api.call("PATCH", path, body, "application/merge-patch+json");
};

/** In its long form the bell hangs every third time for two minutes, in which functions have no work and are not killed. */
const longestMs = 1_500_000;

export const onBell: Lane = {
  name: "bell",
  open: (dir, options) => openOnNats(dir, options, bell),
  goneMs: onNats.goneMs,
  longestMs,
  stirMs: 1_500,
  stir: annotated,
  beside: troubles,
  more: [rang],
};
