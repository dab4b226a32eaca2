/** A SparkApplication before its submission. */
import { forecastBy } from "../../kube/forecast.ts";
import { renderedAttempt } from "../auxiliary-objects/attempt.ts";

export const sparkApplicationForecast = forecastBy(renderedAttempt);
