/** A function: its settings are those of the reconcile function. */
import { handler as handlerOf } from "rekindle/engine";
import { podSet } from "./kind.ts";

export const handler = handlerOf({ kinds: [podSet] });
