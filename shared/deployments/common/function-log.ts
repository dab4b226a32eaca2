/** How a function follows its events: lines on standard output, where the platform collects them. */
import { lineReport } from "../../adapters/telemetry/lines.ts";
import { openTrail, type Trail } from "../../adapters/telemetry/trail.ts";

export const openLines = (): Trail => openTrail({ report: lineReport("info"), level: "info" });
