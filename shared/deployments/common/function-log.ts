/** The log of a function: lines on standard output, which the platform collects. */
import { lineReport } from "../../adapters/telemetry/lines.ts";
import { openTrail, type Trail } from "../../adapters/telemetry/trail.ts";
import type { Settings } from "../settings/read.ts";

export const openLines = ({ logLevel }: Pick<Settings<"wake">, "logLevel">): Trail =>
  openTrail({ report: lineReport(logLevel), level: "info" });
