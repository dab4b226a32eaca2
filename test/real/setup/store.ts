/** DynamoDB Local, Amazon's local DynamoDB, as `test/real/store/pom.xml` pins it. */
import { join } from "node:path";
import { type Jars, jarsFolder, jarsPart } from "./maven.ts";

const jars: Jars = {
  name: "store",
  why: "DynamoDB Local, for checkpoints in a table",
  sizeHint: "85 jars, 51 MB; 20 s, with Maven and a JDK",
  folder: "dynamodb",
  pom: join(import.meta.dirname, "..", "store", "pom.xml"),
  programs: { java: "openjdk-17-jdk-headless", javac: "openjdk-17-jdk-headless" },
};

/** Returns the folder of the jars; the part `store` fills it. */
export const dynamoJars = (): Promise<string> => jarsFolder(jars);

export const store = jarsPart(jars);
