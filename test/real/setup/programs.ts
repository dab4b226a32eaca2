/**
 * Programs of the operating system that a part calls: missing ones are listed with their packages, and installed where
 * that is allowed.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { alone } from "./lock.ts";
import { cacheDir, command } from "./part.ts";

/** Program → the Debian package that contains it. */
export type Programs = Readonly<Record<string, string>>;

const isThere = (program: string): boolean =>
  [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"].some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

export const missingOf = (programs: Programs): readonly string[] =>
  Object.keys(programs).filter((program) => !isThere(program));

const isAllowed = (): boolean => process.env["CI"] === "true" || process.argv.includes("--system");

/** Installs missing programs; throws the command to type if that is not allowed. One at a time: apt holds a lock. */
export const installPrograms = async (programs: Programs, say: (line: string) => void): Promise<void> => {
  const missing = missingOf(programs);
  if (missing.length === 0) return;
  const wanted = [...new Set(missing.map((program) => programs[program] ?? program))];
  const sudo = process.getuid?.() === 0 ? [] : ["sudo"];
  const line = [...sudo, "apt-get", "install", "-y", "--no-install-recommends", ...wanted];
  if (!isAllowed()) throw new Error(`${missing.join(", ")} not found; type:  ${line.join(" ")}`);
  say(line.join(" "));
  const apt = (...args: string[]): Promise<string> => {
    const [program = "apt-get", ...rest] = [...sudo, "apt-get", ...args];
    return command(program, rest, { env: { DEBIAN_FRONTEND: "noninteractive" } });
  };
  await alone(join(cacheDir(), "locks", "apt"), async () => {
    await apt("update", "-q");
    await apt("install", "-y", "-q", "--no-install-recommends", ...wanted);
  });
};
