/** Programs of the operating system that the node agent and the Spark parts call. */
import type { Part, Programs } from "./part.ts";
import { missingOf } from "./programs.ts";

const packages: Programs = {
  bwrap: "bubblewrap",
  ip: "iproute2",
  unshare: "util-linux",
  nsenter: "util-linux",
  setpriv: "util-linux",
  java: "openjdk-17-jdk-headless",
  javac: "openjdk-17-jdk-headless",
  jar: "openjdk-17-jdk-headless",
  python3: "python3",
  pip3: "python3-pip",
};

export const system: Part = {
  name: "system",
  why: `programs that run pods as local processes: ${Object.keys(packages).join(", ")}`,
  sizeHint: "by apt, a few MB; 10 s",
  needs: [],
  programs: packages,
  isReady: async () => missingOf(packages).length === 0,
  // Its programs are all of it.
  install: async () => {},
};
