/** The settings of a deployment for the decisions and the forecasts of all kinds: each kind takes its part. */
import type { KindForecast } from "../kube/forecast.ts";
import type { ApacheSettings } from "../spark/apache/operator.ts";
import type { Settings as SparkSettings } from "../spark/application/run/context.ts";
import type { Options } from "../spark/auxiliary-objects/options.ts";
import type { QueueOptions } from "../volcano/queue/decide.ts";

export type KindSettings = SparkSettings & ApacheSettings & { readonly queues: QueueOptions };

/** A forecast by the options of a deployment. */
export type SettledForecast = KindForecast<Options>;
