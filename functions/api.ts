/** The HTTP door: health, and signed triggers that ask for a step of one key. Run by itself, it listens. */
import { handle, type LambdaEvent } from "hono/aws-lambda";
import { openDoor } from "../shared/wiring/answering.ts";
import { apiApp } from "../shared/wiring/door.ts";
import { once } from "../shared/wiring/once.ts";

export { apiApp } from "../shared/wiring/door.ts";

const wiring = once(async () => handle(apiApp(openDoor(process.env))));

/** The Lambda handler of an HTTP API or a function URL. */
export const handler = async (event: LambdaEvent) => (await wiring())(event);

if (import.meta.main) {
  const { serveUntil } = await import("../shared/wiring/serving.ts");
  const { stopped } = await import("../shared/wiring/stopping.ts");
  await serveUntil(process.env, apiApp(openDoor(process.env)), stopped());
}
