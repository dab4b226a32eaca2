/** `npm run e2e -- --dispatch [--bell]`: a dispatcher calls the functions over HTTP. */
import { annotated, rangAt } from "../bell/rings.ts";
import type { Lane } from "../functions/lane.ts";
import { goneMs } from "../lambda/cases.ts";
import { dispatcherLives, openDispatched, openDispatchedBell } from "./fixture.ts";

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

/** No watch is open: the API server's webhook rings at the dispatcher, and what rings while it is away a resync finds. */
export const dispatchedBell: Lane = {
  ...dispatched,
  name: "dispatch-bell",
  open: openDispatchedBell,
  stirMs: 1_500,
  stir: annotated,
  more: [rangAt("dispatch")],
};
