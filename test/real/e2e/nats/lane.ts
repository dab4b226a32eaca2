/** `npm run e2e -- --nats`: NATS' server holds the queue, and workers run while messages wait there. */
import type { Lane } from "../functions/lane.ts";
import { goneMs } from "../lambda/cases.ts";
import { openOnNats } from "./fixture.ts";
import { machineDies } from "./machine-death.ts";

/**
 * The key of a killed worker waits for 15 s, and one whose messages were delivered four times is tried alone after a
 * while: an application has about eight steps and deliveries after it was deleted.
 */
const waitsMs = 8 * 15_000;

export const onNats: Lane = {
  name: "nats",
  open: openOnNats,
  stirMs: 1_500,
  goneMs: goneMs + waitsMs,
  longestMs: 600_000,
  more: [machineDies],
};
