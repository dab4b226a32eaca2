/** The schema of an instant in a record, epoch ms: a number that is no time makes the record damaged. */
import * as z from "zod";
import { isInstant } from "../core/time.ts";

export const instant = z.number().refine(isInstant, "is no time");
