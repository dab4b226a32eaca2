/** The SQS client, loaded with the first request, and every request bounded in time and tries. */
import type { SQSClient } from "@aws-sdk/client-sqs";
import { refusalOf } from "./refusal.ts";

type Sdk = typeof import("@aws-sdk/client-sqs");
type Open = { readonly client: SQSClient; readonly sdk: Sdk };

/** Time for one try, and for all tries of one request together. */
const tryMs = 5_000;
const requestMs = 12_000;

/** Gives the client and its commands to `ask`; what comes back instead of an answer is one clear line about `queue`. */
export type Sqs = <T>(
  what: string,
  queue: string,
  ask: (open: Open, patience: { readonly abortSignal: AbortSignal; readonly requestTimeout: number }) => Promise<T>,
  /** How long the queue itself may take its time: a long poll. */
  pollMs?: number,
) => Promise<T>;

const load = async (): Promise<Open> => {
  const sdk = await import("@aws-sdk/client-sqs");
  // Region, credentials and endpoint come from the variables that every AWS client reads.
  const client = new sdk.SQSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: tryMs, throwOnRequestTimeout: true },
  });
  return { client, sdk };
};

/** Nothing is loaded before the first request. */
export const openSqs = (): Sqs => {
  let loading: Promise<Open> | undefined;
  return async (what, queue, ask, pollMs = 0) => {
    loading ??= load();
    const patience = { abortSignal: AbortSignal.timeout(requestMs + pollMs), requestTimeout: tryMs + pollMs };
    try {
      return await ask(await loading, patience);
    } catch (cause) {
      throw refusalOf(what, queue, cause);
    }
  };
};
