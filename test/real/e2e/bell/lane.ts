/**
 * `npm run e2e -- --bell`: no forwarder and no watch. The API server calls the built bell by the shipped webhook
 * configuration; the queue is on NATS. The bell is killed and hangs, so rings are lost, and resyncs find what they were about.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import { isOpen } from "../../../support/port.ts";
import type { Fixture } from "../functions/fixture.ts";
import type { Lane } from "../functions/lane.ts";
import { rekindle } from "../installed.ts";
import { completing, deleted, failing } from "../lambda/applications.ts";
import type { Case } from "../lambda/cases.ts";
import { type KeySender, openOnNats } from "../nats/fixture.ts";
import { onNats } from "../nats/lane.ts";
import { must } from "../scene.ts";

const path = "a-path-that-nobody-guesses";

/** Every third end of the bell begins with a hang of this time, ms. */
const hangMsOf = (kills: number): number => (kills >= 200 ? 120_000 : 15_000);
const hangsEvery = 3;

const bell: KeySender = {
  name: "bell",
  // The API server trusts the authority of the kubelet's certificate only where the configuration says so.
  env: ({ kubelet }) => ({
    ...{ REKINDLE_ADMISSION_PATH: path, REKINDLE_LOG_LEVEL: "debug" },
    ...{ REKINDLE_TLS_CERT_FILE: kubelet.cert, REKINDLE_TLS_KEY_FILE: kubelet.key },
  }),
  register: async ({ dir, kubectl }, port) => {
    for (const until = performance.now() + 20_000; !(await isOpen(port)); await sleep(100))
      must(performance.now() < until, "the bell does not listen");
    const caBundle = (await readFile(join(dir, "pki", "ca.crt"))).toString("base64");
    const printed = await rekindle(["manifests", "--bell-url", `https://127.0.0.1:${port}/${path}`]);
    const configuration = fieldsOf(parse(printed));
    const webhooks = recordsIn(configuration["webhooks"]).map((one) => ({
      ...one,
      clientConfig: { ...fieldsOf(one["clientConfig"]), caBundle },
    }));
    const input = JSON.stringify({ ...configuration, webhooks });
    const { code, stderr } = await kubectl(["apply", "--server-side", "-f", "-"], { input });
    must(code === 0, `kubectl apply: ${stderr}`);
  },
  end: (kills) => {
    let ends = 0;
    return async (child) => {
      ends += 1;
      if (ends % hangsEvery === 1) {
        child.kill("SIGSTOP");
        await sleep(hangMsOf(kills));
      }
      child.kill("SIGKILL");
    };
  },
};

const keys = [
  ...[...completing, failing, deleted].map(({ name }) => `SparkApplication/default/${name}`),
  "Job/default/job",
];

const rang: Case<Fixture> = {
  name: "the bell rang for every application and job, and no watch was open",
  run: async ({ logs = "", audit }) => {
    const lines = (await readFile(join(logs, "bell.log"), "utf8"))
      .split("\n")
      .filter((line) => line.includes('"rang"'));
    const silent = keys.filter((key) => !lines.some((line) => line.includes(key)));
    must(silent.length === 0, `no ring for ${silent.join(", ")}`);
    const watches = (await audit.read()).filter(({ verb }) => verb === "watch");
    must(watches.length === 0, `${watches.length} watches were opened`);
    return [`${lines.length} rings with keys`];
  },
};

export const onBell: Lane = {
  name: "bell",
  open: (dir, options) => openOnNats(dir, options, bell),
  goneMs: onNats.goneMs,
  longestMs: onNats.longestMs,
  more: [rang],
};
