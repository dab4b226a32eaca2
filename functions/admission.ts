/**
 * AdmissionReview → defaults, refusals and warnings for the kinds of Spark and Volcano, and patches of pods. Run by
 * itself, it listens.
 */
import { handle, type LambdaEvent } from "hono/aws-lambda";
import { openAdmissionApp } from "../shared/deployments/admission/function.ts";
import { once } from "../shared/deployments/common/once.ts";

const wiring = once(async () => handle(await openAdmissionApp(process.env)));

/** The Lambda handler of an HTTP API or a function URL. */
export const handler = async (event: LambdaEvent) => (await wiring())(event);

if (import.meta.main) {
  const { serveUntil } = await import("../shared/deployments/http/process.ts");
  const { stopped } = await import("../shared/deployments/http/server.ts");
  const { settingsFor } = await import("../shared/deployments/settings/read.ts");
  await serveUntil(settingsFor("admission", process.env), await openAdmissionApp(process.env), stopped());
}
