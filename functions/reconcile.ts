/** Queue batch → steps: one per key, and only the messages of failed keys come back. */
import { openReconcile, type Reconcile } from "../shared/wiring/reconcile.ts";

/** Built with the first event and kept for the environment's life; a failed build is tried again with the next event. */
let opening: Promise<Reconcile> | undefined;

/** The Lambda handler of an SQS event source with partial batch responses. */
export const handler = async (event: unknown): ReturnType<Reconcile> => {
  opening ??= openReconcile(process.env);
  try {
    return await (await opening)(event);
  } catch (error) {
    opening = undefined;
    throw error;
  }
};
