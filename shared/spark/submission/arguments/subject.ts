/** The subject of the arguments: the application whose spec becomes confs. */
import type { SparkApplicationSpec } from "../../schema/application.ts";

/** The application's name, labels and spec, and the id of its submission. */
export type Subject = {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: SparkApplicationSpec;
  readonly submissionId: string;
};
