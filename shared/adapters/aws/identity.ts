/** AWS credentials of this process: those of a function's role, from its environment. */
import { ApiError } from "../../core/errors.ts";
import type { Credentials } from "./signature.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the credentials of the environment; throws one line if there are none. The credential chain of the AWS
 * clients is not used, because it adds 150 kB.
 */
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
