/** The flat cluster record that functions are given: no file, no exec plugin, nothing to look up. */
import * as z from "zod";
import type { Auth, Endpoint } from "../../adapters/kubernetes/https.ts";
import { textOrPlace } from "./secret.ts";

/** PEM texts. */
const shape = z.object({
  server: z.url(),
  ca: z.string().optional(),
  token: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  /** Log in to EKS as the role that this runs as. */
  eks: z.object({ name: z.string().min(1), region: z.string().min(1) }).optional(),
  proxy: z.url().optional(),
});

export type ClusterRecord = z.infer<typeof shape>;

/** The way to the API server, or where it is kept: in the pod's own account, under an ARN, or in a file. */
export type Access =
  | Endpoint
  | { readonly own: typeof inCluster }
  | { readonly arn: string }
  | { readonly file: string };

/** In the place of a record: the account that the pod is given. */
export const inCluster = "in-cluster";

/** An EKS cluster takes a token for 15 minutes after its signature, whatever is said in it. */
const ageMs = 600_000;

const authOf = ({ token, cert, key, eks }: ClusterRecord): Auth | undefined => {
  if (eks !== undefined) {
    const tokenProvider = async (): Promise<string> => {
      const { eksToken } = await import("../../adapters/aws/eks.ts");
      return eksToken(eks, process.env, Date.now());
    };
    return { tokenProvider, tokenAgeMs: ageMs };
  }
  if (token !== undefined) return { token };
  return cert === undefined || key === undefined ? undefined : { cert, key };
};

/** Throws when the text is no record; nothing of it is in the error. */
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

/** The setting: the record itself, or where it is kept. */
export const clusterRecord = () =>
  textOrPlace(
    accessIn,
    "write JSON with server, ca and token (or cert and key, or eks), the ARN under which Secrets Manager or the Parameter Store keeps it, or in-cluster",
  );
