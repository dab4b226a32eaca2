/** The DynamoDB client: loaded with the first request, and limited in time and tries for each request. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { refusalOf } from "./refusal.ts";

type Sdk = typeof import("@aws-sdk/client-dynamodb");
type Open = { readonly client: DynamoDBClient; readonly sdk: Sdk };

/** Calls `ask` with the client and its commands; rejects with one line about the table. */
export type Dynamo = <T>(
  what: string,
  ask: (open: Open, patience: { readonly abortSignal: AbortSignal }) => Promise<T>,
) => Promise<T>;

export type DynamoOptions = {
  readonly table: string;
  /** Absent: the region that every AWS client finds in its environment. */
  readonly region?: string | undefined;
  /** Time limit of one request with all its tries, ms. */
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

/** Opens the client; nothing is loaded before the first request. */
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
