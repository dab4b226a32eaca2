/** AdmissionReview → defaults and refusals of SparkApplications; pure. Run by itself, it listens. */
import { handle } from "hono/aws-lambda";
import { admissionApp } from "../shared/wiring/admitting.ts";

/** The Lambda handler of an HTTP API or a function URL. */
export const handler = handle(admissionApp());

if (import.meta.main) {
  const { serveUntil } = await import("../shared/wiring/serving.ts");
  const { stopped } = await import("../shared/wiring/stopping.ts");
  await serveUntil(process.env, admissionApp(), stopped());
}
