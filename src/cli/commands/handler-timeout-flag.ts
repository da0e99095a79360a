import { integerFlag } from '../framework/flags.ts';

/** Longest handler timeout that can be allowed, in seconds: the maximum in Cluster API's code. */
const maxMaxHandlerTimeout = 30;

/** The flag `--max-handler-timeout-seconds`. */
export const handlerTimeoutFlag = integerFlag(
  'SECONDS',
  1,
  maxMaxHandlerTimeout,
  'maximum timeoutSeconds of a handler',
  { default: 10 },
);
