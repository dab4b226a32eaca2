/** The DynamoDB client, loaded with the first request, and every request bounded in time and tries. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { refusalOf } from "./refusal.ts";

type Sdk = typeof import("@aws-sdk/client-dynamodb");
type Open = { readonly client: DynamoDBClient; readonly sdk: Sdk };

/** Gives the client and its commands to `ask`; what comes back instead of an answer is one clear line about the table. */
export type Dynamo = <T>(
  what: string,
  ask: (open: Open, patience: { readonly abortSignal: AbortSignal }) => Promise<T>,
) => Promise<T>;

export type DynamoOptions = {
  readonly table: string;
  /** Absent: the region that every AWS client reads from its surroundings. */
  readonly region?: string | undefined;
  /** All tries of one request together, ms. */
  readonly timeoutMs: number;
};

const load = async (region: string | undefined): Promise<Open> => {
  const sdk = await import("@aws-sdk/client-dynamodb");
  const client = new sdk.DynamoDBClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
    ...(region === undefined ? {} : { region }),
  });
  return { client, sdk };
};

/** Nothing is loaded before the first request. */
export const openDynamo = ({ table, region, timeoutMs }: DynamoOptions): Dynamo => {
  let loading: Promise<Open> | undefined;
  return async (what, ask) => {
    loading ??= load(region);
    try {
      return await ask(await loading, { abortSignal: AbortSignal.timeout(timeoutMs) });
    } catch (cause) {
      throw refusalOf(what, table, cause);
    }
  };
};
