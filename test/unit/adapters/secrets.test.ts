/** Key pairs: the private key decrypts what the public key encrypts, and ssh reads the public line. */
import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { test } from "node:test";
import { makeSshKey } from "../../../shared/adapters/secrets.ts";

const text = (base64 = ""): string => Buffer.from(base64, "base64").toString();

test("the halves of an SSH key pair belong together, and no two pairs are equal", async () => {
  const [one, other] = await Promise.all([makeSshKey("ssh-key"), makeSshKey("ssh-key")]);
  const { n = "" } = createPublicKey(createPrivateKey(text(one["id_rsa"]))).export({ format: "jwk" });
  const [kind, blob = ""] = text(one["id_rsa.pub"]).trim().split(" ");
  assert.equal(kind, "ssh-rsa");
  assert.ok(Buffer.from(blob, "base64").subarray(-256).equals(Buffer.from(n, "base64url")));
  assert.equal(one["authorized_keys"], one["id_rsa.pub"]);
  assert.notEqual(one["id_rsa"], other["id_rsa"]);
});
