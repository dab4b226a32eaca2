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
  const { admitUntil } = await import("../shared/deployments/admission/function.ts");
  const { stopped } = await import("../shared/deployments/http/server.ts");
  await admitUntil(process.env, stopped());
}
