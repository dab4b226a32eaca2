/**
 * cfn-lint and the SAM command line, which check and build the template of infra/aws; installed once per list of
 * versions.
 */
import { join } from "node:path";
import { type Packages, packagesFolder, packagesPart } from "./pip.ts";

const packages: Packages = {
  name: "aws",
  why: "cfn-lint and the SAM command line, for the template of infra/aws",
  sizeHint: "342 MB on disk; a minute, with pip and make",
  needs: [],
  requirements: join(import.meta.dirname, "aws-tools.txt"),
  holds: "samcli",
  programs: { python3: "python3", pip3: "python3-pip", make: "make" },
};

/** Returns a folder for PYTHONPATH; the part `aws` provides it. */
export const awsTools = (): Promise<string> => packagesFolder(packages);

export const aws = packagesPart(packages);
