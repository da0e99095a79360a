import type { HookDefinition } from '../../../src/runtimehooks/index.ts';
import { sampleRequest } from '../../../src/runtimehooks/messages/index.ts';

/** A sample request without the fields that the client adds. */
export function requestOf(hook: HookDefinition): never {
  const { apiVersion: _a, kind: _k, settings: _s, ...request } = sampleRequest(hook);
  return request as never;
}
