import { readRegularFileSync } from '../../base/index.ts';
import { type Flags, textFlag } from '../framework/flags.ts';
import { UsageError } from '../framework/program.ts';

export const clusterFlags = {
  kubeconfig: textFlag('FILE', 'how to reach the API server', {
    defaultText: '$KUBECONFIG, ~/.kube/config, or in-cluster',
  }),
  context: textFlag('NAME', 'context of the kubeconfig', {
    defaultText: 'its current context',
  }),
} satisfies Flags;

/** A kubeconfig. @throws {UsageError} of `BEFOREno cluster: REASONAFTER` when the flags lead to none. */
export async function orNoCluster<T>(kubeconfig: Promise<T>, before = '', after = ''): Promise<T> {
  try {
    return await kubeconfig;
  } catch (error) {
    throw new UsageError(`${before}no cluster: ${(error as Error).message}${after}`);
  }
}

/** The namespace of the pod in which the program runs; outside of a pod, that of the manifests. */
export function ownNamespace(): string {
  try {
    const file = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
    const text = readRegularFileSync(file, 1024).toString('utf8').trim();
    if (text !== '') {
      return text;
    }
  } catch {
    // No pod.
  }
  return 'extensionconfig-webhook-system';
}
