/** The sources that invoke a function, as the template writes them: a queue, a schedule, a route of the HTTP API. */
import * as z from "zod";

const number = z.union([z.number(), z.string().regex(/^\d+$/)]).transform(Number);

const queue = z.strictObject({
  Type: z.literal("SQS"),
  Properties: z.strictObject({
    Queue: z.string(),
    BatchSize: number.default(10),
    Enabled: z.boolean().default(true),
    FunctionResponseTypes: z.array(z.literal("ReportBatchItemFailures")).default([]),
    ScalingConfig: z.strictObject({ MaximumConcurrency: number }).optional(),
  }),
});

const units: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const rate = z.string().transform((text, context) => {
  const [, count = "", unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(text) ?? [];
  if (count !== "") return Number(count) * (units[unit] ?? 0);
  context.addIssue(`${text} is no rate`);
  return z.NEVER;
});

const schedule = z.strictObject({
  Type: z.literal("Schedule"),
  Properties: z.strictObject({
    Schedule: rate,
    State: z.enum(["ENABLED", "DISABLED"]).default("ENABLED"),
    Input: z.string().optional(),
  }),
});

const route = z.strictObject({
  Type: z.literal("HttpApi"),
  Properties: z.strictObject({ ApiId: z.string(), Method: z.string(), Path: z.string() }),
});

export type QueueSource = {
  readonly from: "queue";
  readonly arn: string;
  readonly batchSize: number;
  readonly enabled: boolean;
  /** If false, any answer of a function is the success of the whole batch. */
  readonly partial: boolean;
  readonly concurrency: number;
};
export type ScheduleSource = {
  readonly from: "schedule";
  readonly everyMs: number;
  readonly enabled: boolean;
  /** Absent: the event that EventBridge creates. */
  readonly input: string | undefined;
};
export type RouteSource = { readonly from: "route"; readonly method: string; readonly path: string };
export type Source = QueueSource | ScheduleSource | RouteSource;

/** The concurrency where the template sets none; an account's thousand would be too many for a test machine. */
const unbounded = 10;

export const eventShape = z.discriminatedUnion("Type", [queue, schedule, route]).transform((event): Source => {
  switch (event.Type) {
    case "SQS": {
      const { Queue, BatchSize, Enabled, FunctionResponseTypes, ScalingConfig } = event.Properties;
      return {
        ...{ from: "queue", arn: Queue, batchSize: BatchSize, enabled: Enabled },
        partial: FunctionResponseTypes.length > 0,
        concurrency: ScalingConfig?.MaximumConcurrency ?? unbounded,
      };
    }
    case "Schedule": {
      const { Schedule, State, Input } = event.Properties;
      return { from: "schedule", everyMs: Schedule, enabled: State === "ENABLED", input: Input };
    }
    case "HttpApi":
      return { from: "route", method: event.Properties.Method, path: event.Properties.Path };
  }
});
