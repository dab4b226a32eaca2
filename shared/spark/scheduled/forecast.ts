/** The application of a ScheduledSparkApplication's next run, before its submission. */
import { fieldsOf } from "../../core/json.ts";
import { forecastBy } from "../../kube/forecast.ts";
import { renderedAttempt } from "../auxiliary-objects/attempt.ts";
import { scheduleLabel, sparkApplications } from "../schema/resource.ts";

export const scheduledSparkApplicationForecast = forecastBy((object, of: Parameters<typeof renderedAttempt>[1]) => {
  const { labels = {}, name = "" } = object.metadata;
  const metadata = { ...object.metadata, labels: { ...labels, [scheduleLabel]: name } };
  const spec = fieldsOf(object.spec)["template"];
  return renderedAttempt({ ...object, kind: sparkApplications.kind, metadata, spec }, of);
});
