import { type Flags, textFlag } from '../cli/index.ts';

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
