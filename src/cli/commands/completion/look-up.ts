import { withoutControls } from '../../../base/index.ts';
import { apiVersionOf, hubVersion } from '../../../extensionconfig/index.ts';
import { itemsAt, objectAt, objectsAt } from '../../../kubernetes/index.ts';
import type { LookUp } from '../../framework/complete.ts';
import { dnsAnswers } from '../dns-answers.ts';

/** How long a user waits for the API server after a Tab, in ms. */
const timeoutMs = 2_000;

/** Looks up what completion offers: contexts of a kubeconfig, and extensions and handlers of its cluster. */
export function createLookUp(env: NodeJS.ProcessEnv): LookUp {
  return async (names, { kubeconfig, context }) => {
    // Only here: most completions need no API client.
    const { connect, loadKubeConfig, shortRetries } = await import('../../../kubernetes/client/index.ts');
    try {
      if (names === 'contexts') {
        const config = await loadKubeConfig({ kubeconfig }, env);
        return config
          .getContexts()
          .map(({ name }) => name)
          .filter(isPlain);
      }
      const config = await loadKubeConfig({ kubeconfig, context }, env);
      const { hostname } = new URL(config.getCurrentCluster()?.server ?? '');
      if (!(await dnsAnswers(hostname.replace(/^\[(.*)\]$/, '$1')))) {
        return [];
      }
      const client = connect(config, AbortSignal.timeout(timeoutMs), shortRetries);
      const { items } = await client.request('GET', `/apis/${apiVersionOf(hubVersion)}/extensionconfigs`);
      return objectsAt(items)
        .flatMap((object) =>
          names === 'extensions'
            ? objectAt(object, 'metadata').name
            : itemsAt(object, 'status', 'handlers').map((handler) => objectAt(handler).name),
        )
        .filter((name) => typeof name === 'string')
        .filter(isPlain);
    } catch {
      return [];
    }
  };
}

/** Whether a name is only what it seems: the shell prints it. */
const isPlain = (name: string) => name !== '' && withoutControls(name) === name;
