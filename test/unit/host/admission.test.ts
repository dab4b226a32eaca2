/** `rekindle host --admission` as a process: it registers itself before it serves, and a dry run registers nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { freePort } from "../../support/port.ts";
import { onMachine } from "./machine.ts";

const flags = async (): Promise<readonly string[]> => {
  const address = `127.0.0.1:${await freePort()}`;
  return ["--admission", "--admission-quota", `--admission-listen=${address}`, `--admission-reach=https://${address}`];
};

const registrations = ({ store }: Simulator): readonly string[] =>
  ["mutating", "validating"].flatMap((phase) =>
    store.list(`${phase}webhookconfigurations.admissionregistration.k8s.io`).map(({ metadata }) => metadata.name),
  );

const home = ({ transport }: Simulator): Promise<unknown> =>
  request(transport, "POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "rekindle" },
  });

const it = (title: string, act: Parameters<typeof onMachine>[0]): void => void test(title, onMachine(act));

describe("a host with admission", () => {
  it("is registered when it serves, and stays registered until uninstall", async ({ simulator, host }) => {
    await home(simulator);
    const running = host(...(await flags()));
    await running.door();
    assert.deepEqual(registrations(simulator), ["rekindle", "rekindle"]);
    assert.match(running.out.join("\n"), /rekindle host: serving admission on port \d+/);
    running.stop();
    assert.equal(await running.code, 0);
    assert.deepEqual(registrations(simulator), ["rekindle", "rekindle"]);
  });

  it("does not serve admission in a dry run, and logs that", async ({ simulator, host }) => {
    const running = host("--dry-run", ...(await flags()));
    await running.door();
    assert.deepEqual(registrations(simulator), []);
    assert.deepEqual(running.err, ["admission is not served in a dry run, because registering it is a write"]);
  });

  const wrong = [
    { name: "no namespace for its Secret", args: [], says: /cannot start: .*namespaces "rekindle" not found/ },
    {
      name: "a place that is none",
      args: ["--admission-reach=somewhere"],
      says: /admission-reach.*https:\/\/ URL, or a Service/,
    },
    { name: "a Secret that is none", args: ["--admission-secret=x"], says: /admission-secret.*a namespace and a name/ },
    {
      name: "a folder that is not there",
      args: ["--admission-certificates=/nowhere"],
      says: /admission-certificates \/nowhere/,
    },
  ];
  for (const { name, args, says } of wrong)
    it(`with ${name} ends with one line`, async ({ simulator, host }) => {
      const running = host(...(await flags()), ...args);
      assert.equal(await running.code, 1);
      assert.match(running.err.join("\n"), says);
      assert.equal(running.err.length, 1);
      assert.deepEqual(registrations(simulator), []);
    });
});
