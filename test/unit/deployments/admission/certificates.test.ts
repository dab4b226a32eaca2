/**
 * Certificates from a folder that another component writes: read again after each change, with or without an authority,
 * and named when missing.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { givenCertificates } from "../../../../shared/deployments/admission/process.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-certificates-"));
after(() => rmSync(folder, { recursive: true }));

const put = (file: string, text: string): void => writeFileSync(join(folder, file), text);

describe("a folder of certificates", () => {
  const certificates = givenCertificates(folder);

  test("leads to an error that names the missing file", async () => {
    await assert.rejects(certificates(), /^Error: admission-certificates .*tls\.crt/);
    put("tls.crt", "one");
    await assert.rejects(certificates(), /tls\.key/);
  });

  test("without an authority has none", async () => {
    put("tls.key", "key");
    assert.deepEqual(await certificates(), { cert: "one", key: "key", ca: undefined });
  });

  test("is read again when it changes", async () => {
    put("ca.crt", "authority");
    put("tls.crt", "two");
    assert.deepEqual(await certificates(), { cert: "two", key: "key", ca: "authority" });
  });
});
