/** The DynamoDB client: loaded with the first request, and limited in time and tries for each request. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { refusalOf } from "./refusal.ts";

type Sdk = typeof import("@aws-sdk/client-dynamodb");
type Open = { readonly client: DynamoDBClient; readonly sdk: Sdk };

/** Calls `ask` with the client and its commands; rejects with one line about the table. */
export type Dynamo = <T>(
  what: string,
  ask: (open: Open, limits: { readonly abortSignal: AbortSignal }) => Promise<T>,
) => Promise<T>;

export type DynamoOptions = {
  readonly table: string;
  /** Absent: the region that every AWS client finds in its environment. */
  readonly region?: string | undefined;
  /** Time limit of one request with all its tries, ms. */
  readonly timeoutMs: number;
};

/** Number of tries of one request, and the shortest time limit of one of them, ms. */
const [tries, shortestTryMs] = [3, 2_000];

const load = async ({ region, timeoutMs }: Pick<DynamoOptions, "region" | "timeoutMs">): Promise<Open> => {
  const sdk = await import("@aws-sdk/client-dynamodb");
  const requestTimeout = Math.max(shortestTryMs, Math.floor(timeoutMs / tries));
  const client = new sdk.DynamoDBClient({
    maxAttempts: tries,
    requestHandler: { connectionTimeout: 1_000, requestTimeout, throwOnRequestTimeout: true },
    ...(region === undefined ? {} : { region }),
  });
  return { client, sdk };
};

/** Opens the client; nothing is loaded before the first request. */
export const openDynamo = ({ table, region, timeoutMs }: DynamoOptions): Dynamo => {
  let loading: Promise<Open> | undefined;
  return async (what, ask) => {
    loading ??= load({ region, timeoutMs });
    try {
      return await ask(await loading, { abortSignal: AbortSignal.timeout(timeoutMs) });
    } catch (cause) {
      throw refusalOf(what, table, cause);
    }
  };
};
