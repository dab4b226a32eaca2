/** Sessions of viewers: a sealed cookie that holds who reads and which namespaces, never the viewer's own token. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import * as z from "zod";
import { jsonOf } from "../../core/json.ts";

const viewer = z.object({
  name: z.string(),
  /** Empty: all. */
  namespaces: z.array(z.string()),
  /** The session's own id: its streams are counted under it. */
  id: z.string(),
  /** Epoch ms after which it has to sign in again. */
  until: z.number(),
});

export type Viewer = Readonly<z.infer<typeof viewer>>;

export type Sessions = {
  /** Returns the value of the cookie. */
  seal(name: string, namespaces: readonly string[]): string;
  /** Returns the viewer; undefined for a value that was not sealed here, was changed, or is too old. */
  open(value: string): Viewer | undefined;
};

/** `__Host-`: only this host, over a secure connection or on this machine, sets and receives it. */
export const cookieName = "__Host-rekindle";
export const sessionMs = 8 * 3_600_000;

const algorithm = "aes-256-gcm";
const ivLength = 12;
const tagLength = 16;

/**
 * Opens sessions under a secret. Processes with the same secret accept each other's sessions, and a changed secret ends
 * them all.
 */
export const openSessions = (secret: string, now: () => number): Sessions => {
  const key = new Uint8Array(hkdfSync("sha256", secret, "rekindle page", "session", 32));
  return {
    seal: (name, namespaces) => {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv(algorithm, key, iv);
      const id = randomBytes(9).toString("base64url");
      const text = JSON.stringify({ name, namespaces, id, until: now() + sessionMs });
      return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString(
        "base64url",
      );
    },
    open: (value) => {
      const sealed = Buffer.from(value, "base64url");
      if (sealed.length <= ivLength + tagLength) return undefined;
      try {
        const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivLength), { authTagLength: tagLength });
        decipher.setAuthTag(sealed.subarray(-tagLength));
        const text = Buffer.concat([decipher.update(sealed.subarray(ivLength, -tagLength)), decipher.final()]);
        const { data } = viewer.safeParse(jsonOf(text.toString("utf8")));
        return data !== undefined && data.until > now() ? data : undefined;
      } catch {
        return undefined;
      }
    },
  };
};
