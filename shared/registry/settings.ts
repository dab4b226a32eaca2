/** The settings of a deployment for the decisions of all kinds: each kind takes its part. */
import type { Settings as SparkSettings } from "../spark/application/run/context.ts";
import type { QueueOptions } from "../volcano/queue/decide.ts";

export type KindSettings = SparkSettings & { readonly queues: QueueOptions };
