/** Amazon's prices, in one place: US East (N. Virginia), without free tiers, as of November 2026. */

export const region = "us-east-1";
export const asOf = "November 2026";

/** A price; `page`: the last part of its page's address below https://aws.amazon.com/, where it can be checked. */
type Price = { readonly usd: number; readonly per: string; readonly page: string };

export const prices = {
  invocations: { usd: 0.2, per: "1,000,000 invocations", page: "lambda/pricing" },
  gigabyteSeconds: { usd: 13.3334, per: "1,000,000 GB-s of Lambda, arm64", page: "lambda/pricing" },
  fifo: { usd: 0.5, per: "1,000,000 requests, FIFO", page: "sqs/pricing" },
  standard: { usd: 0.4, per: "1,000,000 requests, standard", page: "sqs/pricing" },
  httpApi: { usd: 1, per: "1,000,000 requests, HTTP API", page: "api-gateway/pricing" },
  writes: { usd: 0.625, per: "1,000,000 write units of DynamoDB, on demand", page: "dynamodb/pricing/on-demand" },
  reads: { usd: 0.125, per: "1,000,000 read units of DynamoDB, on demand", page: "dynamodb/pricing/on-demand" },
  logs: { usd: 0.5, per: "GB of logs taken in", page: "cloudwatch/pricing" },
  alarms: { usd: 0.1, per: "metric of an alarm and month", page: "cloudwatch/pricing" },
  metrics: { usd: 0.3, per: "metric of CloudWatch and month", page: "cloudwatch/pricing" },
  dashboards: { usd: 3, per: "dashboard and month, from the fourth of an account on", page: "cloudwatch/pricing" },
  secrets: { usd: 0.4, per: "secret and month", page: "secrets-manager/pricing" },
  cpu: { usd: 0.04048, per: "vCPU and hour of Fargate", page: "fargate/pricing" },
  memory: { usd: 0.004445, per: "GB and hour of Fargate", page: "fargate/pricing" },
} as const satisfies Readonly<Record<string, Price>>;
