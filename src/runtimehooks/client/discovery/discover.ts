import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import { hooks } from '../../catalog/definitions/definitions.ts';
import { defaultTimeoutSeconds } from '../../catalog/limits.ts';
import type { Release } from '../../catalog/release.ts';
import { aggregate, type CallError, isCallError, prefixed } from '../call-error.ts';
import { complete, type ExchangeContext, exchange, statusError } from '../exchange/exchange.ts';
import { extensionOf } from '../registry/registration.ts';
import { type DiscoveredHandler, type DiscoverResult, type DiscoveryProblem, readDiscovery } from './discovery.ts';

/** Longest response to discovery, in bytes: 512 handlers take some 128 KiB. Many extensions are called concurrently. */
const maxDiscoveryBytes = 2 * 1024 * 1024;

/**
 * Calls Discovery on an extension, as Cluster API does (Discover in internal/runtime/client/client.go, v1.14): even in
 * backoff, and without a Content-Type. A server that rejects such a request must not appear to be discovered by it.
 */
export async function discover(
  config: ExtensionConfig,
  { release, signal }: { release: Release; signal: AbortSignal | undefined },
  context: ExchangeContext,
): Promise<DiscoverResult> {
  const extension = extensionOf(config);
  const prefix = `failed to discover extension ${JSON.stringify(extension.name)}`;
  const failed = (error: CallError, problems: DiscoveryProblem[] = [], handlers: DiscoveredHandler[] = []) => ({
    ok: false as const,
    error: prefixed(prefix, error),
    problems,
    handlers,
  });
  const hook = hooks.Discovery;
  const answer = await exchange(
    {
      extension,
      hook,
      handler: undefined,
      timeoutSeconds: defaultTimeoutSeconds,
      request: complete(hook, {}, {}),
      signal,
      maxAnswerBytes: maxDiscoveryBytes,
      mimicsClusterApi: true,
    },
    context,
  );
  if (isCallError(answer)) {
    return failed(answer);
  }
  const response = answer.content;
  const error = statusError(response);
  if (error !== undefined) {
    return failed(error);
  }
  const { handlers, problems } = readDiscovery(response, extension.name, { release });
  return problems.length === 0
    ? { ok: true, handlers }
    : failed(
        {
          step: 'validation',
          message: `failed to validate discovery response: ${aggregate(problems.map(({ message }) => message))}`,
        },
        problems,
        handlers,
      );
}
