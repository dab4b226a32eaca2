/** The processes of a controller: which one holds a connection, and what is left of them after the bench. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { listening } from "../support/port.ts";
import { openProcesses } from "./processes.ts";
import { processAt } from "./sender.ts";

test("the process of a connection is found by its port, in its group alone", async () => {
  const server = createServer();
  const port = await listening(server);
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  const group = Number(execFileSync("ps", ["-o", "pgid=", "-p", String(process.pid)], { encoding: "utf8" }));
  assert.equal(processAt(socket.localPort ?? 0, group), process.pid);
  assert.equal(processAt(socket.localPort ?? 0, 1), undefined);
  assert.equal(processAt(1, group), undefined);
  socket.destroy();
  server.close();
});

const bench = `
  import { openProcesses } from "./test/judge/processes.ts";
  openProcesses({ command: ["sh", "-c", "echo $$; exec sleep 300"] }, process.env.LOG, () => {});
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
  setInterval(() => {}, 1_000);
`;

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const)
  test(`a bench that ends by ${signal} leaves no controller behind`, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "judge-"));
    t.after(() => rmSync(dir, { recursive: true }));
    const log = join(dir, "log");
    const child = spawn(process.execPath, ["--input-type=module", "--eval", bench], {
      ...{ cwd: join(import.meta.dirname, "..", ".."), env: { ...process.env, LOG: log } },
    });
    const said = (): string => (existsSync(log) ? readFileSync(log, "utf8") : "");
    while (!said().endsWith("\n")) await sleep(20);
    const pid = Number(said());
    assert.ok(isAlive(pid));
    child.kill(signal);
    for (let left = 100; isAlive(pid) && left > 0; left -= 1) await sleep(20);
    assert.equal(isAlive(pid), false);
  });

test("kills at the same moment start one process again, and none after the end", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "judge-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const log = join(dir, "log");
  const pids = (): readonly number[] => readFileSync(log, "utf8").trim().split("\n").filter(Boolean).map(Number);
  const until = async (count: number): Promise<void> => {
    for (let left = 200; pids().length < count && left > 0; left -= 1) await sleep(20);
  };
  const processes = openProcesses({ command: ["sh", "-c", "echo $$; exec sleep 300"] }, log, () => {});
  await until(1);
  processes.kill(50);
  processes.kill(50);
  await until(2);
  await sleep(200);
  assert.equal(pids().length, 2);
  assert.deepEqual(pids().map(isAlive), [false, true]);
  processes.kill(50);
  await processes.stop();
  await sleep(200);
  assert.deepEqual(pids().map(isAlive), [false, false]);
});
