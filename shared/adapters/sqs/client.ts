/** Calls to SQS, limited in time and tries for each request. */
import type { Calls, Signer } from "../aws/calls.ts";
import { refusalOf } from "./refusal.ts";

/** Time limit of one try, and of all tries of one request together, ms. */
const tryMs = 5_000;
const requestMs = 12_000;

type Patience = {
  /** Added to the time limits for a long poll, ms. */
  readonly pollMs?: number;
  /** In place of both time limits, ms. */
  readonly withinMs?: number;
};

/** Sends a request about `queue`, and returns its answer; rejects with one line about the queue. */
export type Sqs = (
  action: string,
  queue: string,
  input: object,
  patience?: Patience,
) => Promise<Readonly<Record<string, unknown>>>;

/** Returns the signer of the AWS client, which finds credentials and region where no variable has them. */
const clientSigner = async (): Promise<Signer> => {
  const { SQSClient } = await import("@aws-sdk/client-sqs");
  const { config } = new SQSClient({});
  return { credentials: config.credentials, region: config.region };
};

/** Opens the calls; nothing is loaded before the first request. */
export const openSqs = (): Sqs => {
  let loading: Promise<Calls> | undefined;
  const load = async (): Promise<Calls> => {
    const { openCalls } = await import("../aws/calls.ts");
    return openCalls({ name: "sqs", target: "AmazonSQS", client: clientSigner, env: process.env });
  };
  return async (action, queue, input, { pollMs = 0, withinMs } = {}) => {
    const limits = { tryMs: withinMs ?? tryMs + pollMs, callMs: withinMs ?? requestMs + pollMs };
    loading ??= load();
    try {
      const calls = await loading;
      return await calls({ action, endpoint: queue, input: { QueueUrl: queue, ...input }, ...limits });
    } catch (cause) {
      // A right is named after the action of one message, also where a request has ten.
      throw refusalOf(action.replace(/Batch$/, ""), queue, cause);
    }
  };
};
