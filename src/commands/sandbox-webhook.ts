import type { Writable } from 'node:stream';
import { pino } from 'pino';
import { createAdmission } from '../admission/index.ts';
import { runtimeSdkFeatureGate } from '../api/index.ts';
import { reviewConversion } from '../conversion/index.ts';
import { createRuleSet } from '../rules/index.ts';
import { fixedCertificate, selfSignedPair, startServer } from '../server/index.ts';
import { environmentVariableOf, readFlags } from './flags.ts';
import { ruleSetOptionsOf } from './policy-flags.ts';
import { serveFlags } from './serve-flags.ts';
import { version } from './version.ts';

/** A webhook server that the sandbox calls. */
export interface SandboxWebhook {
  /** https://HOST:PORT */
  url: string;
  /** PEM that verifies it for the host of its URL. */
  ca: string;
  /** Whether it answers /convert. */
  converts: boolean;
  stop(): Promise<void>;
}

/** How long requests that are under way may take when the sandbox stops, in milliseconds. */
const stopTimeout = 1_000;

/** Starts the real webhook server on loopback, as `serve --feature-gates=RuntimeSDK=true` does, with a certificate of its own. */
export async function startSandboxWebhook(log: Writable): Promise<SandboxWebhook> {
  const now = () => new Date();
  // With the gate off every ExtensionConfig is refused, which is nothing to try.
  const flags = readFlags(serveFlags, {}, { [environmentVariableOf('feature-gates')]: 'RuntimeSDK=true' });
  const pair = selfSignedPair(now());
  const server = await startServer({
    admission: createAdmission({
      rules: createRuleSet(ruleSetOptionsOf(flags)),
      isRuntimeSdkEnabled: flags['feature-gates'][runtimeSdkFeatureGate] === true,
      now,
    }),
    convert: reviewConversion,
    certificates: fixedCertificate(pair),
    webhook: { host: '127.0.0.1', port: 0 },
    health: { host: '127.0.0.1', port: 0 },
    log: pino({ level: 'warn', base: null }, log),
    version,
    featureGates: flags['feature-gates'],
    processMetrics: false,
    now,
  });
  return {
    url: `https://127.0.0.1:${server.webhookPort}`,
    ca: pair.cert,
    converts: true,
    stop: () => server.stop({ timeoutMs: stopTimeout }),
  };
}
