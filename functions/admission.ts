/** AdmissionReview → defaults, refusals and warnings for the Spark kinds; pure. Run by itself, it listens. */
import { handle, type LambdaEvent } from "hono/aws-lambda";
import { openAdmissionApp } from "../shared/wiring/admission/function.ts";
import { once } from "../shared/wiring/once.ts";

const wiring = once(async () => handle(await openAdmissionApp(process.env)));

/** The Lambda handler of an HTTP API or a function URL. */
export const handler = async (event: LambdaEvent) => (await wiring())(event);

if (import.meta.main) {
  const { serveUntil } = await import("../shared/wiring/serving.ts");
  const { stopped } = await import("../shared/wiring/stopping.ts");
  await serveUntil(process.env, await openAdmissionApp(process.env), stopped());
}
