/** The SQS client: loaded with the first request, and limited in time and tries for each request. */
import type { SQSClient } from "@aws-sdk/client-sqs";
import { refusalOf } from "./refusal.ts";

type Sdk = typeof import("@aws-sdk/client-sqs");
type Open = { readonly client: SQSClient; readonly sdk: Sdk };

/** Time limit of one try, and of all tries of one request together, ms. */
const tryMs = 5_000;
const requestMs = 12_000;

/** Calls `ask` with the client and its commands; rejects with one line about `queue`. */
export type Sqs = <T>(
  what: string,
  queue: string,
  ask: (open: Open, patience: { readonly abortSignal: AbortSignal; readonly requestTimeout: number }) => Promise<T>,
  /** Added to the time limits for a long poll, ms. */
  pollMs?: number,
) => Promise<T>;

const load = async (): Promise<Open> => {
  const sdk = await import("@aws-sdk/client-sqs");
  // Region, credentials and endpoint come from the environment variables of every AWS client.
  const client = new sdk.SQSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: tryMs, throwOnRequestTimeout: true },
  });
  return { client, sdk };
};

/** Opens the client; nothing is loaded before the first request. */
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
