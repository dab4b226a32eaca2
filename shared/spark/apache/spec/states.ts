/** The parts of `status` that both kinds of `spark.apache.org` have. */
import * as z from "zod";

/** A state of `status`. */
export const shownState = z.looseObject({
  currentStateSummary: z.string().optional(),
  lastTransitionTime: z.string().optional(),
  message: z.string().optional(),
});

/** `attemptInfo` of an attempt's summary. */
export const attemptInfo = z.looseObject({ id: z.int().optional(), restartCounter: z.int().optional() });
