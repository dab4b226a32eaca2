/** The parts of Amazon's client for SSM that read the Parameter Store: the whole client is 130 kB more in each function. */
export { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
