/** AdmissionReview → the keys that its change concerns; every request is allowed. Run by itself, it listens. */
import { handle, type LambdaEvent } from "hono/aws-lambda";
import { openBell } from "../shared/deployments/bell/function.ts";
import { once } from "../shared/deployments/common/once.ts";

const wiring = once(async () => handle(openBell(process.env).app));

/** The Lambda handler of an HTTP API or a function URL. */
export const handler = async (event: LambdaEvent) => (await wiring())(event);

if (import.meta.main) {
  const { ringUntil } = await import("../shared/deployments/bell/function.ts");
  const { stopped } = await import("../shared/deployments/http/server.ts");
  await ringUntil(process.env, stopped());
}
