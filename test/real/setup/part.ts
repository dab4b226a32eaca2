/** What a part of the set-up is, and the two things all parts share: the cache folder and running a command. */
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export type Part = {
  readonly name: string;
  /** What is impossible without it. */
  readonly why: string;
  /** What installing it costs, for people: size and time. */
  readonly sizeHint: string;
  /** Parts that must be there first. */
  readonly needs: readonly string[];
  /** Cheap: it is asked on every run. */
  readonly isReady: () => Promise<boolean>;
  readonly install: (say: Say) => Promise<void>;
};

/** One line of progress. */
export type Say = (line: string) => void;

/** Everything that is built or downloaded lies here, outside the repository. REKINDLE_CACHE names another place. */
export const cacheDir = (): string => process.env["REKINDLE_CACHE"] ?? join(homedir(), ".cache", "rekindle");

type Options = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Is given what the command prints, as it comes. */
  readonly hear?: (text: string) => void;
};

/** Runs a command to its end and returns its output; a failure carries the end of what it said. */
export const command = (program: string, args: readonly string[], options: Options = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
    });
    let said = "";
    const hear = (chunk: Buffer): void => {
      const text = chunk.toString();
      said += text;
      options.hear?.(text);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (cause) => reject(new Error(`${program} cannot be run: ${cause.message}`, { cause })));
    child.on("close", (code) => {
      if (code === 0) return resolve(said);
      const end = said.trim().split("\n").slice(-12).join("\n");
      reject(new Error(`${[program, ...args].slice(0, 4).join(" ")} ended with ${code}:\n${end}`));
    });
  });

/** Fills a folder elsewhere and moves it to its place when it is complete: what stands in the cache is whole. */
export const intoPlace = async (place: string, fill: (dir: string) => Promise<void>): Promise<void> => {
  await mkdir(dirname(place), { recursive: true });
  const dir = await mkdtemp(`${place}.part-`);
  try {
    await fill(dir);
    // Pods may run as another user.
    await chmod(dir, 0o755);
    await rm(place, { recursive: true, force: true });
    await rename(dir, place);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};
