/** How a function follows its events: lines on standard output, where the platform collects them. */
import { lineReport } from "../../adapters/telemetry/lines.ts";
import { openTrail, type Trail } from "../../adapters/telemetry/trail.ts";
import type { Settings } from "../settings/read.ts";

export const openLines = ({ logLevel }: Pick<Settings<"wake">, "logLevel">): Trail =>
  openTrail({ report: lineReport(logLevel), level: "info" });
