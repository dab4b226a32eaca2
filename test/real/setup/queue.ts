/** ElasticMQ, a third-party queue server that speaks SQS, as `test/real/queue/pom.xml` pins it. */
import { join } from "node:path";
import { type Jars, jarsFolder, jarsPart } from "./maven.ts";

const jars: Jars = {
  name: "queue",
  why: "ElasticMQ, an SQS server of somebody else's, for the queue's conformance and for functions end to end",
  sizeHint: "39 jars, 37 MB; 20 s, with Maven and Java",
  folder: "elasticmq",
  pom: join(import.meta.dirname, "..", "queue", "pom.xml"),
  programs: { java: "openjdk-17-jre-headless" },
};

/** Returns the folder of the jars; the part `queue` fills it. */
export const elasticMqJars = (): Promise<string> => jarsFolder(jars);

export const queue = jarsPart(jars);
