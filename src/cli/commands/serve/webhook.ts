import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { reviewConversion, runtimeSdkFeatureGate } from '../../../extensionconfig/index.ts';
import { addWatchingMetrics, type WatchingOptions, watchCluster } from '../../../policy/cluster-facts/index.ts';
import { createAdmission, type ImpactConfig, type RuleSet } from '../../../policy/index.ts';
import { inPlaceFeatureGate, type RunningWebhook, startWebhook } from '../../../webhook/index.ts';
import { version } from '../../framework/version.ts';
import type { ServeFlags } from './flags.ts';

interface Surroundings
  extends Pick<Parameters<typeof startWebhook>[0], 'certificates' | 'clients' | 'lostLogLines' | 'processMetrics'> {
  rules: RuleSet;
  /** The cluster to watch for rules that use facts about it; default: none. */
  facts?: KubeConfig | undefined;
  pace?: WatchingOptions['pace'];
  /** What is done with writes that replace or delete Machines. */
  impact: ImpactConfig;
  log: Logger;
}

/**
 * Starts the webhook that flags describe, and what it watches; `stop` ends both. `impactReady` resolves when it can say what
 * writes replace; it is undefined without `--impact`.
 */
export async function startFromFlags(
  flags: ServeFlags,
  { rules, facts, pace, impact: config, log, ...server }: Surroundings,
): Promise<Pick<RunningWebhook, 'webhookPort' | 'stop'> & { impactReady: Promise<void> }> {
  const featureGates = flags['feature-gates'];
  const now = () => new Date();
  const watching =
    facts &&
    watchCluster({
      config: facts,
      ...(pace && { pace }),
      onProblem(kind, problem) {
        if (problem === undefined) {
          log.info({ kind }, 'facts about the cluster are up to date again');
        } else {
          log.warn(
            { kind, problem },
            'facts about the cluster may be stale or missing, so rules that need them may report nothing',
          );
        }
      },
    });
  const impact = flags.impact
    ? // Most of the program, which serves only this.
      (await import('../../../checks/impact/index.ts')).createImpactReviews({
        kubeconfig: { kubeconfig: flags.kubeconfig, context: flags.context },
        clusterApiVersion: flags['cluster-api-version'],
        config,
        facts: watching && (() => watching.read().facts),
        updatesInPlace: featureGates[inPlaceFeatureGate] === true,
        callsExtensions: flags['impact-call-extensions'],
        log,
      })
    : undefined;
  const isRuntimeSdkEnabled = featureGates[runtimeSdkFeatureGate] === true;
  try {
    const { webhookPort, stop } = await startWebhook({
      ...server,
      admission: createAdmission({ rules, isRuntimeSdkEnabled, now, facts: watching?.read }),
      refresh: watching?.refresh,
      impact: impact?.review,
      addMetrics(registry, prefix) {
        impact?.addMetrics(registry, prefix);
        if (watching !== undefined) {
          addWatchingMetrics(registry, prefix, watching);
        }
      },
      convert: reviewConversion,
      webhook: { host: flags.host, port: flags.port },
      health: { host: flags.host, port: flags['health-port'] },
      log,
      version,
      featureGates,
      now,
    });
    return {
      webhookPort,
      impactReady: impact?.ready ?? Promise.resolve(),
      async stop(options) {
        watching?.stop();
        await stop(options);
        await impact?.stop();
      },
    };
  } catch (error) {
    watching?.stop();
    await impact?.stop();
    throw error;
  }
}
