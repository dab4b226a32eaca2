/** Who we are to AWS: a function's role, as its environment has it. */
import { ApiError } from "../../core/errors.ts";
import type { Credentials } from "./signature.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Throws one line when there are no credentials. The chain of AWS's clients is not searched: it is 150 kB more. */
export const identity = (env: Environment): Credentials => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return { accessKeyId, secretAccessKey, sessionToken: token };
  const message =
    "no AWS credentials: a Lambda function has its role's, anything else needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  throw new ApiError({ status: 401, reason: "NoCredentials", message });
};

/** The domain of a region's services. */
export const domainOf = (region: string): string => (region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com");
