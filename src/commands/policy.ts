import { readFileSync } from 'node:fs';
import { type Admission, createAdmission } from '../admission/index.ts';
import { runtimeSdkFeatureGate } from '../api/index.ts';
import { createHookCatalog, LifecycleFileError, parseLifecycles } from '../hooks/index.ts';
import { createRuleSet, parseRulesConfig, RulesConfigError } from '../rules/index.ts';
import { UsageError } from './program.ts';
import type { ServeFlags } from './serve-flags.ts';

function readFlagFile<T>(flag: string, path: string, parse: (text: string) => T): T {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof RulesConfigError || error instanceof LifecycleFileError) {
      throw new UsageError(`--${flag}: ${path}: ${error.message}`);
    }
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== undefined) {
      throw new UsageError(`--${flag}: ${path} cannot be read: ${code}`);
    }
    throw error;
  }
}

/**
 * The decisions as the flags ask for them. MERGE: what it shares with `lint` moves to policy-flags.ts.
 *
 * @throws {UsageError} when a file that a flag names cannot be used.
 */
export function policyOf(flags: ServeFlags, now: () => Date): Admission {
  const rulesConfig = flags['rules-config'];
  const hookLifecycles = flags['hook-lifecycles'];
  return createAdmission({
    rules: createRuleSet({
      profile: flags.profile,
      enforcement: flags.enforcement,
      ...(rulesConfig !== undefined && { levels: readFlagFile('rules-config', rulesConfig, parseRulesConfig) }),
      maxHandlerTimeoutSeconds: flags['max-handler-timeout-seconds'],
      hooks: createHookCatalog(
        hookLifecycles === undefined ? [] : readFlagFile('hook-lifecycles', hookLifecycles, parseLifecycles),
      ),
      clusterApi: flags['target-cluster-api-version'],
    }),
    isRuntimeSdkEnabled: flags['feature-gates'][runtimeSdkFeatureGate] === true,
    now,
  });
}
