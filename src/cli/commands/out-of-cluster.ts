/**
 * What to do about the error of a call: a Service has no address outside of its cluster.
 *
 * @returns undefined for any other error.
 */
export function outOfClusterHint(error: string): string | undefined {
  return error.includes('.svc:') && error.includes('no such host')
    ? 'the name of a Service is known only in its cluster: from elsewhere use a port-forward and --resolve'
    : undefined;
}
