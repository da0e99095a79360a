import type { DiscoveryResponse } from '../../../runtimehooks/index.ts';
import { hooks } from '../../../runtimehooks/index.ts';
import type { Handler } from './handler.ts';

/** The response of Discovery: the handlers in the order of the list, so that all replicas respond alike. */
export function discoveryOf(handlers: readonly Handler[]): DiscoveryResponse {
  const { group, version, response } = hooks.Discovery;
  return {
    apiVersion: `${group}/${version}`,
    kind: response.kind,
    status: 'Success',
    handlers: handlers.map(({ name, hook, timeoutSeconds, failurePolicy }) => ({
      name,
      requestHook: { apiVersion: `${hook.group}/${hook.version}`, hook: hook.name },
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      ...(failurePolicy !== undefined && { failurePolicy }),
    })),
  };
}
