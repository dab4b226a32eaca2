/** `npm run e2e -- --dispatch`: a dispatcher calls the functions over HTTP. */
import type { Lane } from "../functions/lane.ts";
import { goneMs } from "../lambda/cases.ts";
import { dispatcherLives, openDispatched } from "./fixture.ts";

/**
 * A dispatcher keeps messages and timers in its memory. Those of two that were killed one after the other come back with
 * the first resync of the next one: twice its life and the time until its lease expires.
 */
const lostTimerMs = 2 * (dispatcherLives.mostMs + 15_000);

export const dispatched: Lane = {
  name: "dispatch",
  open: openDispatched,
  stirMs: 400,
  goneMs: goneMs + lostTimerMs,
  longestMs: 300_000,
  more: [],
};
