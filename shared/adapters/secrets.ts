/** Generates secret values once, when the object that holds them is created. */
import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import type { Chance } from "../engine/ports.ts";

const bits = 2_048;

const sized = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/** Encodes a positive number as SSH does: a leading zero marks it as positive. */
const numberOf = (base64url: string): Buffer => {
  const bytes = Buffer.from(base64url, "base64url");
  return sized((bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
};

const encoded = (text: string): string => Buffer.from(text).toString("base64");

/** Generates an RSA key pair: the private key as PEM, the public key as a line of `authorized_keys`. */
export const makeSshKey: Chance = async () => {
  const { publicKey, privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: bits });
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  const blob = Buffer.concat([sized(Buffer.from("ssh-rsa")), numberOf(e), numberOf(n)]);
  const line = `ssh-rsa ${blob.toString("base64")}\n`;
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  return { id_rsa: encoded(pem), "id_rsa.pub": encoded(line), authorized_keys: encoded(line) };
};
