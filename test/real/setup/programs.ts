/**
 * Programs of the operating system that a part calls: missing ones are listed with their packages, and installed where
 * that is allowed.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { alone } from "./lock.ts";
import { cacheDir, command, type Programs } from "./part.ts";

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

/** Whether programs may be installed: in CI, or where the user says so. */
export const mayInstall = (): boolean => process.env["CI"] === "true" || process.argv.includes("--system");

const administrator = (): readonly string[] => (process.getuid?.() === 0 ? [] : ["sudo"]);

const packagesOf = (programs: Programs): readonly string[] => [
  ...new Set(
    missingOf(programs)
      .flatMap((program) => programs[program] ?? [])
      .filter((one) => typeof one === "string"),
  ),
];

/** The missing programs, and what to type or where to get them; undefined: none is missing. */
export const lackOf = (programs: Programs): string | undefined => {
  const missing = missingOf(programs);
  if (missing.length === 0) return undefined;
  const wanted = packagesOf(programs);
  const apt = [...administrator(), "apt-get install -y --no-install-recommends", ...wanted].join(" ");
  const others = missing.flatMap((program) => {
    const place = programs[program];
    return typeof place === "object" ? [`${program}: ${place.from}`] : [];
  });
  return `${missing.join(", ")} not found; ${[...(wanted.length === 0 ? [] : [`type:  ${apt}`]), ...others].join("; ")}`;
};

/** Installs the missing programs that Debian has. */
export const installPrograms = async (programs: Programs, say: (line: string) => void): Promise<void> => {
  const wanted = packagesOf(programs);
  if (wanted.length === 0) return;
  const sudo = administrator();
  say([...sudo, "apt-get install", ...wanted].join(" "));
  const apt = (...args: string[]): Promise<string> => {
    const [program = "apt-get", ...rest] = [...sudo, "apt-get", ...args];
    return command(program, rest, { env: { DEBIAN_FRONTEND: "noninteractive" } });
  };
  await alone(join(cacheDir(), "locks", "apt"), async () => {
    await apt("update", "-q");
    await apt("install", "-y", "-q", "--no-install-recommends", ...wanted);
  });
};
