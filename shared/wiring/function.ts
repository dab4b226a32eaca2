/** What a cloud function is told by its environment: the cluster's flat record and the queues. Read when asked, never at import. */
import * as z from "zod";
import type { Endpoint } from "../adapters/kubernetes/https.ts";
import type { SqsQueues } from "../adapters/sqs/queue.ts";
import { type Timing, timing } from "../engine/settings.ts";

/** The flat cluster record: no file, no exec plugin, nothing to look up. PEM texts. */
const record = z.object({
  server: z.url(),
  ca: z.string().optional(),
  token: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
});

const shape = z.object({
  REKINDLE_CLUSTER_RECORD: z.string().transform((text, context) => {
    try {
      return record.parse(JSON.parse(text));
    } catch {
      context.addIssue("JSON with server, ca and token (or cert and key) is needed");
      return z.NEVER;
    }
  }),
  REKINDLE_FIFO_URL: z.url(),
  REKINDLE_DELAY_URL: z.url(),
});

export type FunctionSettings = { readonly endpoint: Endpoint; readonly queues: SqsQueues; readonly timing: Timing };

const endpointOf = ({ server, ca, token, cert, key }: z.infer<typeof record>): Endpoint => ({
  server,
  ...(ca === undefined ? {} : { ca }),
  ...(token === undefined ? {} : { auth: { token } }),
  ...(cert === undefined || key === undefined ? {} : { auth: { cert, key } }),
  userAgent: "rekindle-reconcile",
});

/** Throws one line that names every variable that is missing or wrong. */
export const functionSettings = (environment: Readonly<Record<string, string | undefined>>): FunctionSettings => {
  const parsed = shape.safeParse(environment);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => `${issue.path.join(".")} (${issue.message})`);
    throw new Error(`set the function's environment: ${wrong.join(", ")}`);
  }
  const { REKINDLE_CLUSTER_RECORD, REKINDLE_FIFO_URL, REKINDLE_DELAY_URL } = parsed.data;
  const queues = { fifo: REKINDLE_FIFO_URL, delay: REKINDLE_DELAY_URL };
  return { endpoint: endpointOf(REKINDLE_CLUSTER_RECORD), queues, timing };
};
