import { isCallError, targetOf } from '../../../runtimehooks/client/index.ts';
import { hooks } from '../../../runtimehooks/index.ts';
import type { Check } from '../check.ts';
import { callOverHttp2 } from '../wire.ts';

export const check: Check = {
  id: 'http2',
  group: 'Calls',
  level: 'must',
  asks: 'A server that offers HTTP/2 also answers over it.',
  why: "Cluster API's client uses HTTP/2 whenever the server offers it in the TLS handshake.",
  remedy: 'fix HTTP/2 in the server or the proxy in front of it, or do not offer h2 in ALPN',
  async run({ extension, target, resolve, signal, discovery }, report) {
    const { group, version, name, request } = hooks.Discovery;
    const called = targetOf(extension.clientConfig, { group, version, hook: name, timeoutSeconds: 10 });
    if (isCallError(target) || isCallError(called)) {
      return { because: 'there is no address' };
    }
    if (discovery.heard.kind !== 'answer') {
      return { because: 'Discovery has no answer' };
    }
    const body = JSON.stringify({ apiVersion: `${group}/${version}`, kind: request.kind });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
    const outcome = await callOverHttp2(target, called.path, body, resolve, limit);
    if (outcome === undefined) {
      return { because: 'no TLS handshake succeeded' };
    }
    if (!outcome.offered) {
      return { because: 'the server speaks HTTP/1.1 only, which is fine' };
    }
    if (outcome.code !== 200) {
      report({
        message: `Discovery over HTTP/2 has ${outcome.code === undefined ? 'no answer' : `HTTP ${outcome.code}`}`,
      });
    }
    return undefined;
  },
};
