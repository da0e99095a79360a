/**
 * What to do about the error of a call: a Service has no address outside of its cluster.
 *
 * @returns undefined for any other error.
 */
export function outOfClusterHint(error: string): string | undefined {
  return error.includes('.svc:') && error.includes('no such host')
    ? 'the name of a Service has an address only in its cluster: use --resolve, or read the ExtensionConfig from the cluster, which starts kubectl port-forward'
    : undefined;
}
