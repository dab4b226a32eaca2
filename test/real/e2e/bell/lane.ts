/**
 * `npm run e2e -- --bell`: no forwarder and no watch. The API server calls the built bell by the shipped webhook
 * configuration; the queue is on NATS. The bell is killed and hangs, so rings are lost, and resyncs find what they were about.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Lane } from "../functions/lane.ts";
import { troubles } from "../functions/troubles.ts";
import { type KeySender, openOnNats } from "../nats/fixture.ts";
import { onNats } from "../nats/lane.ts";
import { bellSettings, registerBell } from "./registration.ts";
import { annotated, rangAt } from "./rings.ts";

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
  more: [rangAt("bell")],
};
