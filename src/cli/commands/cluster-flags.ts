import { type Flags, textFlag } from '../framework/flags.ts';
import { UsageError } from '../framework/program.ts';

/** The flags that select the API server, named as in kubectl. */
export const clusterFlags = {
  kubeconfig: textFlag('FILE', {
    summary: 'how to reach the API server',
    default: undefined,
    defaultText: '$KUBECONFIG, ~/.kube/config, or in-cluster',
  }),
  context: textFlag('NAME', {
    summary: 'context of the kubeconfig',
    default: undefined,
    defaultText: 'its current context',
  }),
} satisfies Flags;

/** What `make` returns. @throws {UsageError} of `BEFOREno cluster: REASONAFTER` when it fails: the flags lead to none. */
export function orNoCluster<T>(make: () => T, before = '', after = ''): T {
  try {
    return make();
  } catch (error) {
    throw new UsageError(`${before}no cluster: ${(error as Error).message}${after}`);
  }
}
