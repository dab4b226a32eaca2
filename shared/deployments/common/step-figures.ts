/** The metrics of steps in functions, whose queue says when it took a message. A host measures its own queue. */
import type { Meter, MetricSample, ownFigures } from "../../core/metric.ts";
import type { World } from "../../engine/context/world.ts";

type Name = (typeof ownFigures)[number]["name"];

/** Returns what measures ended steps; `now` in epoch ms. Each step is one call of the meter. */
export const stepFigures =
  (meter: Meter, now: () => number): NonNullable<World["ended"]> =>
  ({ message: { namespace, kind }, ending, tookMs, sentAt }) => {
    const of = { namespace, kind, ending: ending?.did ?? "failed" };
    const sample = (act: MetricSample["do"], name: Name, value: number): MetricSample => ({ do: act, name, value, of });
    // The age is that of the message when its step began.
    const age = sentAt === undefined ? [] : [Math.max(0, now() - tookMs - sentAt) / 1_000];
    meter([
      sample("count", "rekindle_steps_total", 1),
      sample("observe", "rekindle_step_duration_seconds", tookMs / 1_000),
      ...age.map((seconds) => sample("observe", "rekindle_queue_age_seconds", seconds)),
    ]);
  };
