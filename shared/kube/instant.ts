/** The shape of an instant in a record, epoch ms: a number that is no time is a record that went wrong, and told as that. */
import * as z from "zod";
import { isInstant } from "../core/time.ts";

export const instant = z.number().refine(isInstant, "is no time");
