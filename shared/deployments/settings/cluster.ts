/** The flat cluster record of functions: it needs no file, no exec plugin and no lookup. */
import * as z from "zod";
import type { Auth, Endpoint } from "../../adapters/kubernetes/https.ts";
import { textOrPlace } from "./formats.ts";

/** PEM texts. */
const shape = z.object({
  server: z.url(),
  ca: z.string().optional(),
  token: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  /** Logs in to EKS with the role of the process. */
  eks: z.object({ name: z.string().min(1), region: z.string().min(1) }).optional(),
  proxy: z.url().optional(),
});

export type ClusterRecord = z.infer<typeof shape>;

/** The endpoint of the API server, or the place of its record: the pod's own account, an ARN, or a file. */
export type Access =
  | Endpoint
  | { readonly own: typeof inCluster }
  | { readonly arn: string }
  | { readonly file: string };

/** Value in place of a record: the service account of the pod. */
export const inCluster = "in-cluster";

/**
 * The longest age of a reused token, ms. EKS accepts a token for 15 minutes after its signature, whatever expiry it
 * states.
 */
const ageMs = 600_000;

const authOf = ({ token, cert, key, eks }: ClusterRecord): Auth | undefined => {
  if (eks !== undefined) {
    const tokenProvider = async (): Promise<string> => {
      const { eksToken } = await import("../../adapters/aws/signature.ts");
      return eksToken(eks, process.env, Date.now());
    };
    return { tokenProvider, tokenAgeMs: ageMs };
  }
  if (token !== undefined) return { token };
  return cert === undefined || key === undefined ? undefined : { cert, key };
};

/** Parses a record. Throws where the text is none; the error contains nothing of the text. */
export const endpointIn = (text: string): Endpoint => {
  const record = shape.parse(JSON.parse(text));
  const auth = authOf(record);
  return {
    server: record.server,
    ...(record.ca === undefined ? {} : { ca: record.ca }),
    ...(record.proxy === undefined ? {} : { proxy: record.proxy }),
    ...(auth === undefined ? {} : { auth }),
  };
};

const accessIn = (text: string): Endpoint | { readonly own: typeof inCluster } | undefined => {
  if (text === inCluster) return { own: inCluster };
  try {
    return endpointIn(text);
  } catch {
    return undefined;
  }
};

/** The schema of the setting: the record itself, or its place. */
export const clusterRecord = () =>
  textOrPlace(
    accessIn,
    "write JSON with server, ca and token (or cert and key, or eks), the ARN under which Secrets Manager or the Parameter Store keeps it, or in-cluster",
  );
