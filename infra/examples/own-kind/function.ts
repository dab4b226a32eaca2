/** Functions: their settings are those of the functions reconcile, forward and resync. */
import { forwardHandler, handler as handlerOf, resyncHandler } from "rekindle/engine";
import { podSet } from "./kind.ts";

export const handler = handlerOf({ kinds: [podSet] });
export const forward = forwardHandler({ kinds: [podSet] });
export const resync = resyncHandler({ kinds: [podSet] });
