/** The process at the other end of a loopback connection, from Linux' tables of sockets and open files. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** The inode of the established connection of 127.0.0.1 whose local port is this one. */
const inodeOf = (table: string, port: number): string | undefined => {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const line = table.split("\n").map((text) => text.trim().split(/\s+/));
  return line.find(([, from, , state]) => from === local && state === "01")?.[9];
};

const groupOf = (pid: string): number => {
  // The name of the program, in parentheses, may have spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[2]);
};

const holds = (pid: string, inode: string): boolean => {
  const dir = `/proc/${pid}/fd`;
  return readdirSync(dir).some((fd) => {
    try {
      return readlinkSync(join(dir, fd)) === `socket:[${inode}]`;
    } catch {
      // Closed meanwhile.
      return false;
    }
  });
};

/** Returns the process of a group whose connection has this port; undefined if it has gone. */
export const processAt = (port: number, group: number): number | undefined => {
  const inode = inodeOf(readFileSync("/proc/net/tcp", "utf8"), port);
  if (inode === undefined) return undefined;
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .find((pid) => {
      try {
        return groupOf(pid) === group && holds(pid, inode);
      } catch {
        // Ended meanwhile.
        return false;
      }
    });
  return found === undefined ? undefined : Number(found);
};
