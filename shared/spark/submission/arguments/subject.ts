/** The application whose spec becomes confs. */
import type { SparkApplicationSpec } from "../../schema/application.ts";

/** What an application is called, and what its submission is. */
export type Subject = {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: SparkApplicationSpec;
  readonly submissionId: string;
};
