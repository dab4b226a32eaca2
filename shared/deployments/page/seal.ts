/**
 * Texts that the browser keeps for the server, sealed: it can neither read nor change them. Processes with the same
 * secret open each other's, and a changed secret makes all of them void.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import * as z from "zod";
import { jsonOf } from "../../core/json.ts";

export type Seal = {
  /** Returns the sealed text of a JSON value that is valid for `ms`. */
  close(value: object, ms: number): string;
  /** Returns the value; undefined for a text that was not sealed here for this use, was changed, or is too old. */
  open(text: string): unknown;
};

const algorithm = "aes-256-gcm";
const ivLength = 12;
const tagLength = 16;

const content = z.object({ value: z.unknown(), until: z.number() });

/** `use`: a text that is sealed for one use is void for any other. `now`: epoch ms. */
export const openSeal = (secret: string, use: string, now: () => number): Seal => {
  const key = new Uint8Array(hkdfSync("sha256", secret, "rekindle page", use, 32));
  return {
    close: (value, ms) => {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv(algorithm, key, iv);
      const text = JSON.stringify({ value, until: now() + ms });
      const sealed = [iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(sealed).toString("base64url");
    },
    open: (given) => {
      const sealed = Buffer.from(given, "base64url");
      if (sealed.length <= ivLength + tagLength) return undefined;
      try {
        const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivLength), { authTagLength: tagLength });
        decipher.setAuthTag(sealed.subarray(-tagLength));
        const text = Buffer.concat([decipher.update(sealed.subarray(ivLength, -tagLength)), decipher.final()]);
        const { data } = content.safeParse(jsonOf(text.toString("utf8")));
        return data !== undefined && data.until > now() ? data.value : undefined;
      } catch {
        return undefined;
      }
    },
  };
};
