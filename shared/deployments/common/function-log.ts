/** The log of a function: lines on standard output, which the platform collects. */
import { lineReport } from "../../adapters/telemetry/lines.ts";
import { openTelemetry, type Telemetry } from "../../adapters/telemetry/tracing.ts";
import type { Settings } from "../settings/read.ts";

export const openLines = ({ logLevel }: Pick<Settings<"wake">, "logLevel">): Telemetry =>
  openTelemetry({ report: lineReport(logLevel), level: "info" });
