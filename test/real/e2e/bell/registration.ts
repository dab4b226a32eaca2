/** A bell that serves HTTPS for the API server of a test cluster, and its shipped webhook configuration there. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import { isOpen } from "../../../support/port.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { rekindle } from "../installed.ts";
import { must } from "../scene.ts";

/** The secret first part of the path. */
const path = "a-path-that-nobody-guesses";

/** Settings of a bell beside those of every function. */
export const bellSettings = ({ kubelet }: Pick<Cluster, "kubelet">): Readonly<Record<string, string>> => ({
  ...{ REKINDLE_ADMISSION_PATH: path, REKINDLE_LOG_LEVEL: "debug" },
  ...{ REKINDLE_TLS_CERT_FILE: kubelet.cert, REKINDLE_TLS_KEY_FILE: kubelet.key },
});

/** Applies what `rekindle manifests --bell-url` prints, as soon as the bell listens at the port. */
export const registerBell = async ({ dir, kubectl }: Pick<Cluster, "dir" | "kubectl">, port: number): Promise<void> => {
  for (const until = performance.now() + 20_000; !(await isOpen(port)); await sleep(100))
    must(performance.now() < until, "the bell does not listen");
  // The API server trusts the authority of the kubelet's certificate only where the configuration says so.
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
};
