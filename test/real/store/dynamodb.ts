/** DynamoDB Local as a child process: in memory, on 127.0.0.1, on a free port, until `stop`. */
import { join } from "node:path";
import { startJava } from "../../support/java.ts";
import { freePort } from "../../support/port.ts";
import { dynamoJars } from "../setup/store.ts";

export type DynamoLocal = {
  /** The value of AWS_ENDPOINT_URL_DYNAMODB. */
  readonly endpoint: string;
  stop(): Promise<void>;
};

/**
 * Starts it with one set of tables for all regions and keys; its log is in `dir`. The part `store` of the set-up must
 * be installed.
 */
export const startDynamoLocal = async (dir: string): Promise<DynamoLocal> => {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const jars = await dynamoJars();
  const launcher = join(import.meta.dirname, "Local.java");
  const { stop } = await startJava({
    name: "DynamoDB Local",
    jars,
    options: [`-Djava.library.path=${jars}`],
    args: [launcher, "-inMemory", "-sharedDb", "-disableTelemetry", "-port", String(port)],
    url: endpoint,
    log: join(dir, "dynamodb.log"),
  });
  return { endpoint, stop };
};
