/** Amazon's prices, in one place: US East (N. Virginia), without free tiers, as of November 2026. */

export const region = "us-east-1";
export const asOf = "November 2026";

type Price = { readonly usd: number; readonly per: string };

/** Check them before you rely on them: https://aws.amazon.com/pricing */
export const prices = {
  invocations: { usd: 0.2, per: "1,000,000 invocations" },
  gigabyteSeconds: { usd: 13.3334, per: "1,000,000 GB-s of Lambda, arm64" },
  fifo: { usd: 0.5, per: "1,000,000 requests, FIFO" },
  standard: { usd: 0.4, per: "1,000,000 requests, standard" },
  writes: { usd: 0.625, per: "1,000,000 write units of DynamoDB, on demand" },
  reads: { usd: 0.125, per: "1,000,000 read units of DynamoDB, on demand" },
  logs: { usd: 0.5, per: "GB of logs taken in" },
  alarms: { usd: 0.1, per: "metric of an alarm and month" },
  secrets: { usd: 0.4, per: "secret and month" },
  cpu: { usd: 0.04048, per: "vCPU and hour of Fargate" },
  memory: { usd: 0.004445, per: "GB and hour of Fargate" },
} as const satisfies Readonly<Record<string, Price>>;
