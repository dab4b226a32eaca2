/** The headers that prove a request to the HTTP API, as a caller's own code makes them. */
import { signature } from "../../shared/core/signature.ts";

type Signed = {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  readonly body?: string;
  /** Further headers that the signature covers. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Signs a request with the key; `age` is that of the timestamp, s. */
export const proofWith = (
  key: string,
  { method = "POST", path, body = "", headers = {} }: Signed,
  age = 0,
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(Date.now() / 1_000) - age);
  const hex = signature(key, { timestamp, method, path, body, headers });
  return { "x-rekindle-timestamp": timestamp, "x-rekindle-signature": `sha256=${hex}` };
};
