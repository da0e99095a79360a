import { type ConformanceReport, checks, testConformance } from '../../../src/checks/conformance/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { SchemaOf } from '../../../src/kubernetes/schema/index.ts';
import { createHookCatalog, hooksGroup, newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import { caBundle, extensionConfig } from '../../runtimehooks/client/extension-server.ts';

/** Runs the checks with these ids, by default all, on the extension at an address. */
export function tryExtension(
  port: number,
  options: {
    checks?: readonly string[];
    requests?: ReadonlyMap<string, JsonObject>;
    timeLimitMs?: number;
    caBundle?: string;
    withSideEffects?: boolean;
    signal?: AbortSignal;
    schemaOf?: SchemaOf;
  } = {},
): Promise<ConformanceReport> {
  const { checks: ids, requests = new Map(), timeLimitMs = 100_000, signal, withSideEffects = true } = options;
  const config = extensionConfig('one', { url: `https://localhost:${port}`, caBundle: options.caBundle ?? caBundle });
  return testConformance(config, {
    known: { catalog: createHookCatalog(), release: newestKnownRelease },
    withSideEffects,
    requests,
    schemaOf: options.schemaOf,
    signal: signal ?? new AbortController().signal,
    ...(ids && { checks: checks.filter(({ id }) => ids.includes(id)) }),
    timeLimitMs,
  });
}

/** The checks that did not pass, with their statuses; without skipped ones. */
export function complaints({ checks: results }: ConformanceReport): Record<string, string> {
  return Object.fromEntries(
    results.filter(({ status }) => status === 'failed' || status === 'warning').map(({ id, status }) => [id, status]),
  );
}

/** A handler as in a discovery response. */
export function offered(hook: string, more: JsonObject = {}): JsonObject {
  return { name: hook.toLowerCase(), requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook }, ...more };
}
