/**
 * The libraries that a PySpark program needs to talk to a Spark Connect server; installed once per list of versions.
 */
import { join } from "node:path";
import { type Packages, packagesFolder, packagesPart } from "./pip.ts";

const packages: Packages = {
  name: "connect",
  why: "the libraries of PySpark's Connect client, for a real query to a SparkConnect server",
  sizeHint: "80 MB to download, 330 MB on disk; half a minute",
  needs: ["spark"],
  requirements: join(import.meta.dirname, "connect-client.txt"),
  holds: "grpc",
  programs: { python3: "python3", pip3: "python3-pip" },
};

/** Returns a folder for PYTHONPATH; the part `connect` provides it. */
export const connectClient = (): Promise<string> => packagesFolder(packages);

export const connect = packagesPart(packages);
