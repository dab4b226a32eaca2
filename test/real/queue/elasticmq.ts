/** ElasticMQ as a child process: on 127.0.0.1, on a free port, with the limits of the real SQS, until `stop`. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type JavaServer, startJava } from "../../support/java.ts";
import { freePort } from "../../support/port.ts";
import { elasticMqJars } from "../setup/queue.ts";

export type ElasticMq = JavaServer & {
  /** The value of AWS_ENDPOINT_URL_SQS. */
  readonly endpoint: string;
};

const configuration = (port: number): string => `include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }
rest-sqs { enabled = true, bind-port = ${port}, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
`;

/** Starts ElasticMQ; its configuration and its log are in `dir`. The part `queue` of the set-up must be installed. */
export const startElasticMq = async ({ dir }: { readonly dir: string }): Promise<ElasticMq> => {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const file = join(dir, "elasticmq.conf");
  await writeFile(file, configuration(port));
  const server = await startJava({
    name: "ElasticMQ",
    jars: await elasticMqJars(),
    options: [`-Dconfig.file=${file}`],
    args: ["org.elasticmq.server.Main"],
    url: `${endpoint}/?Action=ListQueues`,
    log: join(dir, "elasticmq.log"),
  });
  return { endpoint, ...server };
};
