/** Programs of the operating system that the node agent and the Spark parts call. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { command, type Part } from "./part.ts";

/** Program → the Debian package that brings it. */
const packages: Readonly<Record<string, string>> = {
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

const isThere = (program: string): boolean =>
  [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"].some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

const missing = (): readonly string[] => Object.keys(packages).filter((program) => !isThere(program));

const isAllowed = (): boolean => process.env["CI"] === "true" || process.argv.includes("--system");

export const system: Part = {
  name: "system",
  why: `programs that run pods as local processes: ${Object.keys(packages).join(", ")}`,
  sizeHint: "by apt, a few MB; 10 s",
  needs: [],
  isReady: async () => missing().length === 0,
  install: async (say) => {
    const wanted = [...new Set(missing().map((program) => packages[program] ?? program))];
    const sudo = process.getuid?.() === 0 ? [] : ["sudo"];
    const line = [...sudo, "apt-get", "install", "-y", "--no-install-recommends", ...wanted];
    if (!isAllowed()) throw new Error(`${missing().join(", ")} not found; type:  ${line.join(" ")}`);
    say(line.join(" "));
    const apt = (...args: string[]): Promise<string> => {
      const [program = "apt-get", ...rest] = [...sudo, "apt-get", ...args];
      return command(program, rest, { env: { DEBIAN_FRONTEND: "noninteractive" } });
    };
    await apt("update", "-q");
    await apt("install", "-y", "-q", "--no-install-recommends", ...wanted);
  },
};
